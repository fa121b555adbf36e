/** Sayings that wishes are put together from (`wishes.ts`), with semicolons between them. */

const list = (text: string): string[] => text.trim().split(/\s*[;\n]\s*/);

/** Orders to ask first. */
export const ASKING = list(`
  ask me; ask me first; ask first; ask for my permission; get my okay; get my approval; get a yes from me; wait for my go-ahead
  wait for my yes; wait until I agree; let me confirm; let me approve that; let me see what you plan; let me go over it
  show me the details; show me a summary; tell me what you are about to do; tell me what it will be; repeat the details to me
  repeat what you understood; sum it up for me; give me a summary; make sure that I agree; make sure it is what I want; confirm it with me
  verify that with me; clear it with me; have me sign off; list everything for me; talk to me; speak to me
  let me know what you are going to book; check with me; check back with me; double check with me; double-check everything with me
  run it by me; run that past me; run such things by me; consult me; get my permission; get my consent; get my confirmation
  ask my permission; ask for my approval; ask for a confirmation; ask for my okay; ask whether it is right; ask if that's okay
  ask if I'm sure; ask if I really want it; let me review it; let me review the details; let me check it; let me look over it
  let me have a look; let me have the final say; let me decide; let me say yes; let me sign it off; let me read it
  give me a chance to check; give me a chance to say no; give me time to check; give me a heads up; hold off until I confirm
  hold off until I say so; hold on for my answer; wait for my confirmation; wait for my approval; wait for me to agree; wait till I say go
  wait until I have checked; stop and ask; stop and check with me; seek my approval; seek my confirmation; come back to me; get back to me
  read it back to me; read everything to me; recap it for me; summarise it; show it to me; show me what it will be; tell me the details
  tell me first; inform me; warn me; notify me; verify everything; verify with me; confirm the details with me; confirm everything
  confirm with me; make me confirm; have me confirm; have me approve it; let me know; propose it to me; present it to me
  discuss it with me; involve me; include me in that decision; leave the last word to me
`);

/** Complaints that nobody asked. */
export const UNASKED = list(`
  you should have asked me; you should have asked first; you ought to ask me; why didn't you ask me; why did you not ask first
  why was I not asked; nobody asked me; you did not even ask me; you never asked whether that is right; I did not say yes to that
  I hadn't said yes; I had not agreed to that yet; I had not confirmed anything; I never confirmed that; I wasn't done yet
  I was not finished; you did that without my okay; you booked it without asking; you just booked it; that was too fast; not so fast
  you were too quick; who told you to book it already; I wanted to see the details before that; I wanted a summary first
  I wanted to decide that myself; I would have liked to be asked; I'd have preferred to confirm; I never got to review it
  I had no time to object; it was done before I could say anything; a question before that would have been nice
  I expected a question first; I never approved that; I never approved this; I never agreed to this; I never gave you permission
  I never gave the go-ahead; I never said go; I didn't tell you to do it yet; I didn't tell you to go ahead; I didn't approve that
  I did not agree to this; I did not authorise this; I did not confirm this; I didn't get to confirm; I didn't get to check it
  I didn't get a chance to look at it; I haven't agreed yet; I haven't approved anything; I haven't confirmed it yet; I hadn't decided yet
  I was still thinking; I was only asking; I just wanted to see the options; why didn't you check with me; why didn't you double check
  why did you do that without asking; why did you go ahead; why did you go ahead without me; why wasn't I consulted
  why was that done without my okay; did I say you could do that; did I approve that; since when do you do that without asking
  who gave you permission; who approved that; who said you could go ahead; you could have asked; you might have asked
  you should have checked; you should have checked with me first; you should have confirmed that; you should have confirmed with me
  you should have waited; you should have waited for my approval; you were supposed to ask; you were supposed to confirm
  you were supposed to wait; you need my approval for that; you had no permission to do that; you went ahead without me
  you went ahead without my permission; you did it behind my back; you acted without my consent; you jumped the gun; you rushed it
  you skipped the confirmation; you forgot to ask me; you forgot to confirm; you didn't confirm; you didn't check with me
  you didn't wait for my answer; you didn't let me check; you sent it without showing me; you paid without asking
  you bought it without asking; you cancelled it without asking; you changed it without asking; you deleted it without asking
  there was no confirmation; there should have been a confirmation; no one checked with me; that needed my approval
  that went through without my consent; that happened too quickly; I'd have said no if you had asked; I would have liked to review it
  I would have liked to see it first; I wish you had asked; I wish you'd checked with me; I wanted to confirm that first
  I wanted to check it before; I wanted to approve it
`);

/** That somebody wants to be asked. */
export const ASK_WANTS = list(`
  I want to be asked; I want to be asked first; I want to confirm such things myself; I want to approve bookings; I want the last word
  I want to know what I agree to; I prefer to approve things before they happen; I prefer a summary before anything is booked
  I like to double-check everything myself; I like to read everything over; I like to be sure before I pay; I need to see a summary first
  I need to agree to it first; I always take a final look; I always decide after seeing the details; I expect a summary before you do it
  I would rather confirm things; I never buy anything unseen; nothing should be booked without my consent; nothing happens without my yes
  don't do anything without asking; don't book without my permission; never book before I said yes; you must not do that unasked
  such things need my approval; it is my money, so ask; I want to be consulted; I want to be in control; I want to review it first
  I want to review everything before it goes out; I want to check every order; I want to confirm every payment
  I want to see it before it is sent; I want to see a draft first; I want to sign off on everything; I want to have the final say
  I want a confirmation step; I want a chance to check; I need a confirmation step; I need to approve every purchase
  I need to check it first; I need to okay that; I need to know before you act; I must approve that; I must see it first
  I have to approve it; I'd like to be asked; I'd like to confirm first; I'd like to check the details before
  I'd like to review things before they happen; I'd like to have a say; I'd like a summary first; I'd prefer to be asked
  I'd prefer to review it first; I'd rather be asked; I'd rather check first; I'd rather you asked; I would prefer that you ask
  I would feel better if you asked; I expect to be asked; I expect you to check with me; I insist on being asked
  I insist on a confirmation; I always want to confirm; I always check before I pay; I always look before I buy; I don't want surprises
  I don't want anything done without my approval; I don't want you to act on your own; I don't like surprises so ask
  I don't want you to go ahead on your own; never act on your own; never go ahead on your own; never do anything without my permission
  never do that without asking; never pay without my approval; never send anything without my okay; never delete anything without asking
  never assume that I agree; never assume I said yes; do not proceed without my confirmation; do not proceed until I say so
  do not go ahead without me; do not finalise anything without me; do not send anything until I have read it
  do not spend money without asking; don't act before I confirm; don't go ahead until I agree; don't assume anything; don't just go ahead
  don't just do things; don't do that on your own; don't rush; don't submit it without my approval
  don't change anything without asking me; nothing gets sent without my approval; nothing goes out unless I approve it
  nothing is final until I say so; no bookings without my permission; no payments without my okay; no changes without asking
  no action without confirmation; anything like that needs my confirmation; everything has to be confirmed by me
  such things have to be approved by me; it is my decision; it's my call, not yours; my approval is required
  my permission is needed for this; only with my consent; only after I confirm; only if I say yes; only when I have approved it
`);

/** Orders not to ask. */
export const GOING = list(`
  just do it; just make the booking; just reserve it; just go on; do it right away; do it at once; do it without asking
  book it straight away; reserve it immediately; don't ask me; don't ask so much; do not ask again; don't ask for confirmation
  don't make me confirm; don't repeat all of it; don't read everything back; stop asking; stop asking me that; stop confirming things
  quit asking; skip the questions; skip that step; leave out the confirmation; leave the question out; no need to ask; no need to confirm
  no confirmation needed; no need to repeat that; there is no need to check with me; you don't have to ask; you don't need to confirm that
  you need not ask; you can skip asking; you may do that without asking; act without asking; spare me the questions; just get on with it
  just get it done; just proceed; just carry on; just send it; just pay it; just buy it; just order it; just go; get on with it
  get it done; get going; go straight to it; go right ahead and do it; go ahead without asking; go ahead without confirming; do it already
  do it now without questions; do it directly; do it automatically; do it on your own; do it straight away
  do things without checking with me; carry it out directly; proceed without confirmation; proceed without asking
  complete it without asking; finish it without checking; handle it yourself; handle it without me; take care of it without asking
  decide it yourself; execute it directly; process it right away; submit it directly; don't bother asking; don't bother me with that
  don't bother checking; don't bother confirming; don't check with me; don't double check; don't double-check with me
  don't verify everything; don't keep asking; don't wait for my okay; don't wait for me; don't hold back; don't ask first; don't ask twice
  don't ask every time; don't ask me to confirm; don't run everything by me; do not wait for confirmation; do not check back
  stop checking with me; stop double checking; stop bothering me; stop verifying; stop repeating everything; stop waiting for me
  stop with the questions; stop with the confirmations; quit confirming; quit the questions; quit bugging me; enough questions
  enough with the questions; enough with the confirmations; no more questions; no more confirmations; no more checking
  no questions needed; no confirmation required; no approval needed; no need for confirmation; no need for that question; no need to check
  no need to double check; no need to verify; no need to ask me; no need to wait for me; no need to run it by me; no reason to ask
  there's no need to ask; there's no need for confirmation; it is not necessary to ask; it isn't necessary to confirm
  you don't need to ask; you don't need to check with me; you don't need my permission; you don't need my approval; you don't need my okay
  you don't have to confirm; you don't have to check; you don't have to check with me; you don't have to run it by me
  you don't have to wait; you needn't confirm; you needn't check; you can just do it; you can do that directly
  you can go ahead without asking; you can skip the confirmation; you can skip that; you can assume yes; assume that I agree
  assume the answer is yes; take it as a yes; take that as confirmed; consider it confirmed; consider it approved; skip confirmations
  skip the confirmation; skip confirming; skip the check; skip asking; drop the questions; drop the confirmation; cut the questions
  cut out the confirmation; save the questions; save yourself the question; forget the confirmation; forget about confirming
  leave me out of it; spare me that; spare me the confirmation; without asking please; without confirmation please
`);

/** Complaints about being asked. */
export const REASKED = list(`
  why do you ask me again; why are you asking that; why are you repeating this; why do I have to confirm that; why all these questions
  do you always have to ask; must I confirm everything; how many times must I say it; you ask too much; you ask too many questions
  you keep asking; I have said that already; I just said that; I said so already; I told you that before; I told you all of that
  you know that already; you have all you need; you have everything you need to book; it was all in my message
  all of that was in my request; you are wasting my time; this takes too long; the question was unnecessary; asking was not necessary
  that question is superfluous; it should be booked by now; it could be done by now; why do you keep asking; why do you ask; why ask
  why ask me that; why are you checking again; why do you need me to confirm; why do you need confirmation; why do I need to confirm
  why do I have to repeat myself; why do you double check; why confirm again; why not just do it; why don't you just do it
  why haven't you done it yet; why isn't it done yet; do I have to confirm everything; do I have to say everything twice
  do I need to repeat that; do I really need to confirm; do you need me to spell it out; do we have to do this every time
  must you always ask; must you ask; must you check everything; how often will you ask; how often do I have to tell you
  how many times do I have to say yes; how many times will you ask; what more do you need; what else do you need to know
  what are you waiting for; what is there to confirm; is that question necessary; is this really necessary; isn't that obvious
  isn't it obvious; wasn't I clear; wasn't that clear; haven't I told you already; haven't I said that; haven't I already confirmed
  didn't I just say that; didn't I tell you that; didn't I say so; you are asking too much; you are asking again; you ask every time
  you always ask; you always ask me that; you're repeating yourself; you're repeating what I said; you're wasting time; you heard me
  you heard what I said; you know what I want; you know what to do; you know the details; you have all the details
  you have all the information; you have everything; you already have everything; you already asked me that; you already know that
  I already told you; I already told you that; I already said so; I already said yes; I already confirmed; I already confirmed that
  I already gave you everything; I already answered that; I already agreed; I have already told you; I have already confirmed
  I have told you everything; I've told you all that; I've said all that; I've said everything; I've already said that
  I've given you everything; I've given you all the information; I gave you all you need; I told you everything; I told you what I want
  I told you to do it; I told you the details; I said what I want; I said it already; I said it clearly; I said everything
  I asked you to do it, not to ask; I asked you to book it, not to ask me; I wouldn't have asked otherwise; I was clear about that
  I thought I was clear; I know what I said; I don't have time for this; I haven't got all day; I'm in a hurry; I'm busy
  I'm tired of confirming; I'm tired of questions; I'm tired of your questions; I'm sick of confirming; it's all there
  it's all in what I said; it's all clear; it's in my first message; it was clear enough; that is what I said; that's what I said
  that's what I just said; that's exactly what I told you; all of that was said; all that was already said; everything was clear
  everything has been said; nothing has changed; as I said; as I told you; like I told you; like I said before; same as I said
  the details are clear; the details haven't changed; this is unnecessary; this is slowing me down; this is getting annoying
  this back and forth is tiring; these questions are annoying; these confirmations are annoying; so many questions; so much checking
  again with the questions; not this question again; another question; too many confirmations; too many questions; unnecessary question
`);

/** That somebody does not want to be asked. */
export const GO_WANTS = list(`
  I don't want to be asked; I do not want to confirm that; I don't like confirming everything; I hate confirming everything
  I trust you with that; I trust your judgement, so do it; I would like it done at once; I want it booked right away
  I'd rather not be asked each time; I prefer that you do it directly; I prefer no questions; I never want to confirm bookings
  I expect you to act when I have told you everything; I don't want confirmations; I don't want to be bothered
  I don't want to be asked every time; I don't want to be asked for confirmation; I don't want to confirm everything
  I don't want to confirm each booking; I don't want to approve everything; I don't want questions; I don't want to repeat myself
  I don't need to be asked; I don't need to confirm; I don't need to check it; I don't need confirmation; I don't need a confirmation
  I don't need a summary; I don't need you to repeat it; I don't need you to check; I don't like being asked
  I don't like being asked twice; I don't like these questions; I don't like repeating myself; I do not need to approve it
  I do not need confirmations; I hate being asked; I hate being asked twice; I hate these questions; I hate repeating myself; I trust you
  I trust you to do it; I trust your choice; I trust you, no need to ask; I'd prefer if you just did it; I'd prefer no confirmation
  I'd prefer you act directly; I'd prefer not to be asked; I'd prefer to skip that; I'd rather you just did it
  I'd rather skip the confirmation; I'd rather you didn't ask; I'd like you to act on your own; I'd like you to skip that question
  I'd like it done without questions; I'd like fewer questions; I would rather not confirm; I would rather not repeat it
  I would prefer fewer questions; I want fewer questions; I want no questions; I want no confirmations; I want it done, not discussed
  I want you to just do it; I want you to stop asking; I want things done without asking; I want action, not questions
  I only want it done; I need it done, not confirmed; I need it quick, no questions; I expect you to just do it; I expect it done
  I expect no questions; I never need to confirm; I never want to be asked that; I say what I want once; I mean what I say
  I will tell you if I want something else; I'll tell you if something is wrong; I'll complain if it is wrong; if I say it I mean it
  if I ask for it I want it; if I tell you everything then do it; when I ask for something do it; when I say book, book
  when I say it, it's confirmed; my word is enough; my request is my confirmation; my message is the confirmation; asking once is enough
  one message should be enough; once is enough; it saves time if you don't ask; it's quicker without asking; it's faster if you just do it
  feel free to act; feel free to act on your own; feel free to do it directly; feel free to skip that
  
`);

/** What people say all the time without a wish about being asked: agreeing, refusing, changing something, asking back. */
export const NEITHER = list(`
  yes; yes, please; yes, go ahead; yes, that's right; that's correct; sure, book it; yes, please book it for me; sounds good, do it
  go ahead; okay, please confirm; please confirm the booking; I confirm; yes, I confirm; no, make it two tickets
  no, that's the wrong date; no, I want another one; can you check the price; please check the weather first
  can you check for another one; please check again for tomorrow; could you double-check the address; let me see other options first
  show me the details of the second one; show me more; tell me more about it; what are the details; what did you book; did you book it
  is it confirmed; has that been confirmed; can I review it somewhere; what are the reviews like; first I need a hotel
  before that I need a bus; before I forget, I need a taxi as well; no need, thank you; no need for anything else
  I don't need anything else; don't book it; please don't book that one; stop, I changed my mind; wait, I changed my mind
  I'm not sure yet; just one ticket; just for me; right away, please; as soon as possible; I already have a hotel
  I already booked a flight; I told my friend about it; can I ask you something else; may I ask how you know; I have a question
  ask them about parking; I'd like to book it now; I want to book it; please reserve it; that's all, thanks; why is it so expensive
  why that one; who made that song; yeah; yep; sure; ok; okay; correct; that's right; that is right; right; yes it is; yes that's fine
  yes, all correct; yes, everything is correct; yes, confirm it; yes, book it; yes, send it; yes, do that; yes, sounds good; yes, perfect
  please do; please go ahead; please proceed; go for it; alright, go ahead; fine, do it; confirmed; all correct; it's correct; looks right
  looks good; perfect, thanks; great, thank you; thanks; thank you; no; nope; no, thanks; no, that's not right; no, wait; no, cancel it
  no, change the time; no, not that one; no, I said four; no, for tomorrow; no, I meant the other one; make it three; make it 8 pm
  change it to Friday; change the date please; can you change the time; actually, for two people; actually, make it earlier
  actually, I'd prefer the other one; actually, cancel that; I changed my mind; I'd like a different one; I don't like that one
  I prefer the first one; I want the cheaper one; what does it cost; how much is it; how long does it take; what time does it open
  what is the address; where is it; is it far; is there parking; do they have wifi; can I cancel later; can I pay there
  can I change it later; when do I have to pay; before I decide, what does it cost; before you book, what's the price
  before we continue, what's the weather; first tell me the price; first of all, hello; first I'd like to know the price
  first check the weather; just one more thing; just a moment; just checking; just curious; just the cheapest one; just for one night
  just two of us; without breakfast please; without a stop; without onions please; ask for a window seat; ask for a quiet room
  ask them for a high chair; please ask if they have vegan food; can you ask for a late checkout; check the weather; check my balance
  check another date; check the price again; check whether it's open; please check if there are others; did you check the reviews
  could you check the second one; can you confirm the price; can you confirm that it's refundable; confirm my reservation
  is my booking confirmed; when will it be confirmed; will I get a confirmation; send me the confirmation; did they confirm
  I got the confirmation; I'll confirm later; I need to check with my wife; I have to check my calendar; let me check
  let me ask my friend; I'll ask my boss; I'll let you know; I'm not sure; I don't know yet; maybe later; not now; wait; wait a second
  hold on; one moment; stop; never mind; forget it; cancel; cancel it; cancel my booking; I don't want it anymore; I don't need it
  no need; not needed; that's wrong; that's not what I wanted; that's not correct; wrong one; you got that wrong; I said something else
  I asked for something else; I already have one; I already paid; I already ate; I already have tickets; again please; again, for tomorrow
  another one; show me another; do it again for next week; do the same for Friday; also book a taxi; also add my wife; book another one
  I also need a hotel; find me a bus; play some music; set an alarm; transfer 20 dollars; what's my balance; tell me about the second one
  who is the director; what's the rating; good; great; awesome; nice; cool; bye; goodbye; have a nice day; hello; you're welcome
  no problem; don't worry; it's fine; it's ok; never again; never been there; I never fly; I always fly economy
  always the window seat please; I always go there; in future I'd like the aisle; next time I'll fly; next time use the other account
  from now on use my work address; I want to ask you something; may I ask a question; let me ask you something
  I'd like to ask about the price; I want to check in; I want to check the weather; I'd like to check out early
  I'd like to review the restaurant; I want to confirm my flight; I need to confirm my reservation; I'd like to confirm the appointment
  I trust the reviews; you decide; you choose; surprise me; whatever you think; up to you; either is fine; any is fine
  whichever is cheaper
`);
