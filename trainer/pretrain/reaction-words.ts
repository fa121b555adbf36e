/** Words and sayings that reactions are put together from (`reactions.ts`), by what they tell. `{that}` stands for what was answered. */

const list = (text: string): string[] => text.trim().split(/\s*[,\n]\s*/);

/** Ends of "that is …" that reject. */
export const FAULTS = list(`
  wrong, not right, incorrect, not correct, a mistake, an error, nonsense, no good, bad, off, useless, false, not it, not what I wanted
  not what I asked for, not what I meant, not what I need, not helpful, not true, all wrong, rubbish, confusing, awful, terrible, horrible, dreadful
  garbage, trash, ridiculous, silly, stupid, absurd, pathetic, disappointing, frustrating, annoying, unacceptable, inaccurate, misleading, pointless
  irrelevant, unhelpful, broken, worthless, poor, weak, a mess, a joke, crazy, odd, weird, strange, laughable, hopeless, a disaster, a failure, faulty
  flawed, inadequate, insufficient, inappropriate, unrelated, nowhere near, far off, miles off, backwards, upside down, the opposite of what I said
  the wrong one, another thing entirely, the wrong way round, not mine, not for me, not acceptable, not good, not enough, not even close to right
  not what we discussed, not what I told you, not how it works, not the one, not related to my question, out of place, beside the point, below par
  too bad, worse than before, complete nonsense, a total waste, a waste of time, crap, lousy, mediocre, shoddy, sloppy, careless, unsatisfactory
`);

/** Ends of "that is …" that approve. */
export const MERITS = list(`
  right, correct, perfect, great, good, fine, exactly it, exactly what I wanted, what I asked for, what I needed, just right, spot on, wonderful
  very helpful, lovely, exactly right, true, excellent, brilliant, fantastic, amazing, awesome, superb, terrific, splendid, marvellous, fabulous
  ideal, neat, sweet, impressive, outstanding, delightful, pleasant, helpful, useful, handy, accurate, precise, flawless, faultless, acceptable
  okay, ok, alright, all right, cool, nice, very nice, really good, pretty good, good enough, more than enough, great news, good news, a good choice
  a great idea, a big help, a relief, so kind of you, very kind, quick, fast, clear, crystal clear, just what I had hoped for, all I needed, all good
  as it should be, as I like it, to my liking, the right one, the one, exactly the one, super, magnificent, first class, top notch, better than I hoped
  not bad, not bad at all, no problem, no trouble, not wrong, well put, well said, convenient, reasonable, satisfying, satisfactory, incredible
`);

export const REJECTIONS = list(`
  I did not ask for {that}, I never asked for {that}, I don't want {that}, I didn't want {that}, I didn't mean {that}, I meant something else
  I wanted something else, I said something else, I asked for something different, you misunderstood me, you got me wrong, you got it wrong
  you misread my request, you are not listening, you did not answer my question, you didn't do what I asked, you made a mistake
  you forgot what I asked for, that won't do, that does not help, {that} makes no sense, that doesn't work for me, {that} can't be right
  {that} doesn't answer my question, I don't understand what you mean, why did you do that, who asked for {that}, there is a mistake in {that}
  I am not happy with {that}, that's no use to me, I'm disappointed, undo {that}, cancel that as {that} is wrong, you failed, you failed again
  you messed up, you messed {that} up, you screwed up, you blew it, you ruined {that}, you broke {that}, you lost me, you ignored me, you ignored what I said
  you ignored half of what I said, you skipped the important part, you left out half of it, you mixed things up, you are confused, you are wrong
  you're talking nonsense, you're making things up, you made that up, you invented {that}, you are way off, you're lying, you don't get it
  you still don't get it, you just don't understand, you did the opposite, you picked the wrong one, you chose the wrong one, you sent me the wrong one
  you took the wrong one, you answered something else, you answered another question, you should have known better, you can do better, you can't be serious
  are you serious, are you joking, are you even reading this, are you listening at all, do you even understand English, did you read what I wrote
  did you even read my message, did you not hear me, didn't I say something else, have you lost it, is this a joke, is that all you've got
  is that supposed to help, how is {that} useful, how is that an answer, how could you get {that} so wrong, how did you come up with {that}
  how on earth did you get that, what was that, what is wrong with you, what on earth is {that}, what are you doing, what are you talking about
  what kind of answer is that, what a mess, what a waste of time, what a disappointment, what nonsense, where did my request go, who told you to do that
  why would I want {that}, why would you do that, why this, why can't you get it right, since when do I want {that}, that was not my question
  that was not my request, that was not the plan, that was not the deal, that isn't mine, that isn't what we agreed, that isn't the one I wanted
  that has nothing to do with it, that has nothing to do with my question, that misses what I need, that missed the mark, that went wrong
  that went badly, that went over your head, that looks nothing like what I need, that sounds wrong to me, that doesn't look right, that doesn't seem right
  that doesn't sound right, that doesn't add up, that doesn't fit, that does not match, that does not match what I said, that didn't work
  that didn't help me, that didn't go as planned, that contradicts what I said, that is not the case, there has been a misunderstanding
  there must be a mistake, there must be some mistake, there seems to be an error, something is wrong here, something went wrong
  something is off, something is not right, somebody made an error, this won't work, this can't be it, this isn't right, this isn't it
  this isn't working, this is going nowhere, this is getting us nowhere, we are talking past each other, we don't understand each other
  not again, not like this, not that, not this, not this one, not that one, not so, not quite, not really, not at all, not correct, nothing like it
  nothing of the sort, far from it, quite the opposite, on the contrary, wrong again, wrong one, wrong answer, wrong result, bad answer
  bad idea, bad job, poor work, poor job, terrible job, terrible service, no way, no good at all, no use at all, forget it, forget that, scrap that
  drop {that}, delete that, remove {that}, take that back, take {that} back, throw {that} away, get rid of {that}, leave {that} out, stop that
  I disagree, I object, I complain, I have to complain, I can't accept {that}, I can't use {that}, I can't work with {that}, I cannot believe this
  I don't agree, I don't think so, I don't think that's right, I doubt that, I doubt {that} is right, I doubt you understood me, I beg to differ
  I expected better, I expected more, I expected something else, I had something else in mind, I had asked for another thing, I hate {that}
  I don't like {that}, I do not like {that} at all, I dislike {that}, I don't need {that}, I have no use for {that}, I said no such thing
  I never said that, I never said anything like that, I told you something else, I told you already, I told you otherwise, I was looking for something else
  I was talking about something else, I was clear enough, I think you misheard, I think there's an error, I think that's wrong
  I'm afraid that's wrong, I'm afraid not, I'm not satisfied, I'm not impressed, I'm not pleased, I'm upset, I'm annoyed, I am angry, I am fed up
  I'm sick of this, I'm losing patience, I give up, I want my money back, I would never choose {that}, I wish you had listened
  my request was different, my question was another one, my words exactly were different, nobody wants {that}, nobody would want {that}
  can't you do anything right, could you please listen, could you get it right for once, please listen to me, please pay attention, pay attention
  pay more attention, read again, read more carefully, read what I wrote, look again, look closer, think again, check again what I wrote
  be more careful, be careful what you do, focus please, concentrate, get it right, get your facts straight, come on, seriously, really now, oh dear
  oh my god, good grief, for heaven's sake, ugh, argh, meh, yuck, nope, boo, shame on you, thanks for nothing, great job ruining it, well that's just great
`);

export const RETRIES = list(`
  try again, please try again, do it over, do it again, start over, fix it, please correct {that}, have another look, once more but properly
  redo {that}, redo it please, please redo it, repair {that}, change {that}, change it back, put it right, put {that} right, make it right, sort it out
  sort this out, go back, go back and fix it, one more time, another try please, another attempt please, give me another answer, give me something else
  show me another, find me another one, bring me something better, find something better, come up with something better, do better
  do it properly, do it right this time, this time do it right, let's start from the beginning, let's try that again, let us begin again, I need another one
`);

export const ACCEPTANCES = list(`
  you got it, well done, that helps, that works, that works for me, that will do, that'll do nicely, that's it, I like {that}, I love it
  I'm happy with {that}, thanks for that, thanks a lot, thank you so much, that's all I needed, just what I was looking for, sounds like a plan
  there is nothing wrong with {that}, no complaints, I have no objections, not bad at all, I couldn't ask for more, no that's all thank you
  no thanks that is everything, nothing else thank you, no problem that is fine, no you got everything right, thank you, thanks, thx, many thanks
  thanks a million, thanks a bunch, thanks so much, thank you kindly, thank you for your help, thanks for helping, thanks for the help, thanks for the info
  thank you for the information, thanks for doing that, thanks for sorting that out, thanks again, thank you again, much appreciated, I appreciate it
  I appreciate that, I am grateful, I'm so grateful, bless you, cheers, cheers mate, ta, you are a star, you're a lifesaver, you're the best
  you are amazing, you are great, you are very helpful, you've been very helpful, you've been great, you have been a great help, you helped me a lot
  you did well, you did great, you did it, you made my day, you saved me, you got {that} right, you understood me, you understood perfectly
  you read my mind, you always get it right, you rock, good job, great job, nice job, great work, good work, nice work, excellent work, nice one
  good one, good choice, great choice, good thinking, good find, good point, good stuff, great stuff, great service, way to go, bravo, hurray, hooray
  yay, woohoo, wow, awesome, excellent, perfect, lovely, wonderful, brilliant, fantastic, amazing, superb, marvellous, splendid, beautiful, sweet
  terrific, fabulous, super, great, cool, neat, nice, fine, good, okay, ok, okay then, ok then, alright, alright then, all right, all right then, sure
  sure thing, of course, certainly, absolutely, definitely, exactly, indeed, precisely, correct, right, that's right, agreed, I agree, I agree with {that}
  yes, yep, yeah, yup, aye, yes please, yes thanks, yes thank you, yes indeed, yes of course, yes that's it, yes that's the one, yes exactly
  yes I want {that}, yes do that, yes do it, go ahead, go for it, please go ahead, please do, please do that, do that, do it, do it please, let's do that
  let's do it, let's go with {that}, let's go for it, let's take {that}, I'll take it, I'll take {that}, I'll have {that}, I'll go with {that}, I want {that}
  I would like that, I'd like that, I'd love that, I'd love to, make it so, book it, carry on, proceed, please proceed, please continue, sign me up
  count me in, deal, done deal, it's a deal, fair enough, sounds good, sounds great, sounds perfect, sounds fine, sounds right, sounds lovely
  sounds good to me, sounds fair, looks good, looks great, looks good to me, looks right, looks fine, looks perfect, seems right, seems fine, seems good
  works for me, works well, works great, fine by me, fine with me, good with me, okay with me, okay by me, happy with {that}, I'm good with {that}
  I'm fine with {that}, I'm okay with {that}, I'm pleased, I'm very pleased, I am satisfied, I'm impressed, I'm delighted, I'm glad, glad to hear it
  good to hear, good to know, great to know, great to hear, nice to know, nice to hear, what a relief, what a great idea, what a nice surprise
  that is so helpful, that was quick, that was fast, that was easy, that was helpful, that was what I needed, that does it, that does the trick
  that did it, that did the trick, that solves it, that settles it, that fits, that fits perfectly, that fits well, that clears it up, that answers my question
  that answers it, that sounds good, that sounds great, that sounds lovely, that looks good, that looks great, that should work, that should do it
  that would be great, that would be perfect, that would be lovely, that would be nice, that'd be great, that's the one, that's the one I want
  that's perfect, that's great, that's wonderful, that's good, that's fine, that's lovely, that's awesome, that's cool, that's nice, that's brilliant
  that's all, that's all for now, that's all I need, that's everything, that is all thanks, that will be all, that would be all, nothing more thanks
  all set, all good, all good thanks, all done, we're done, we are done here, I'm done thanks, I have all I need
  I have everything I need, I've got what I needed, I got what I wanted, it's all I wanted, it's perfect, it's great, it's just what I needed, it's good
  I can't complain, can't complain, no objections, no issues, no worries, no problem, no problems at all, not a problem, no need to change anything
  no changes needed, nothing to add, nothing to complain about, I wouldn't change it, it couldn't be better, couldn't have done it better
  never been better, have a good day, have a nice day, have a great day, have a good one, bye, goodbye, bye for now, see you, see you later, take care
  good night, have a lovely evening, talk to you later, thanks and bye, thanks bye
`);

export const DENIED_FAULTS = list(`
  {that} is not wrong, {that} isn't bad at all, {that} is no mistake, I see nothing wrong there, I wouldn't change a thing, nothing wrong with {that}
  there's nothing to fix, there is no mistake, I found no mistake, I see no mistake, I don't see a problem, I have no problem with {that}, you made no mistake
  you didn't get anything wrong, you did nothing wrong, I'm not disappointed at all, nothing is missing, not wrong at all, don't change anything, no error there
`);

export const NEUTRALS = list(`
  hold on a moment, let me think, one second, I'll get back to you, wait a minute, give me a moment, I am not sure yet, maybe, I need to think about it
  can you tell me more, what else is there, what else can you do, are there others, how does {that} work, what do you mean by {that}, is there anything else
  and then, what about tomorrow, I have another question, let me ask somebody first, could you repeat {that}, is {that} certain, where did you get {that} from
  hmm, hm, let me see, let me check, let me check my calendar, let me look, just a moment, just a second, one moment please, hang on
  hang on a second, bear with me, brb, be right back, I'll be back, I need a minute, I'm thinking, I'm still thinking, I don't know, I don't know yet
  not sure, I'm undecided, I can't decide, I have to ask my wife, I have to ask my boss, I'll think about it, I'll let you know, I'll decide later
  perhaps, possibly, could be, it depends, who knows, we will see, interesting, I see, oh, oh really, aha, is that so, tell me more, tell me about {that}
  tell me the price, what does it cost, how much is it, how much does {that} cost, how far is it, how long does it take, how many are there, how old is it
  what is the address, what is their phone number, what's the rating, what time is it, what day is it, what is the weather like, what are my options
  what are the other options, what would you do, what do you recommend, what do people say about {that}, what happens next, what happens if I cancel
  what's included, when does it open, when does it close, when will it arrive, when is that, where is it, where is that, where exactly is {that}
  which one is cheaper, which is better, which one do you like, who is in it, who made it, whose is it, who directed it, why is it so cheap, is it far
  is it expensive, is it open on Sundays, is it any good, is there parking, is there a pool, is there wifi, is breakfast included, is it refundable
  are you sure about {that}, are there any others, are pets allowed, are you a robot, are you there, can I pay by card, can I cancel later
  can I change it later, can I bring my dog, can you explain {that}, can you say that again, can you compare them, can you do something else for me
  could you tell me the address, could you also find a hotel, could you give me directions, could you play some music, do I have to pay now
  do they have vegan food, do they take cards, do you know the number, do you have a name, does it have a garden, does it have good reviews
  how are you, how do I get there, how do you know, how did you find {that}, I also need a taxi, I also want a table for tonight, I need a hotel as well
  I need a ride, I want to listen to a song, I want to watch a movie, I would like to know more, I wonder what it costs, I wonder, it is raining here
  my name is Sam, my friend is coming too, next I need a flight, now find me a restaurant, now I need a bus, on another note, one more question
  one more thing, please also check the weather, please tell me the address, please wait, by the way, something else, so what now, say that again
  sorry what was that, the weather is nice today, then I need a bus, we are five people, we have time, what's new, who are you, hello, hi, hi there, good morning
`);

/** What stands before a rejection, an approval and anything. */
export const NO = list(
  `no, nope, no no, nah, oh no, um no, wait, hmm, sorry, what, ugh, eh, huh, erm, oh, well, no sir, no no no, hey, hold on, whoa, stop, sigh, oh come on, dude`,
);
export const YES = list(
  `yes, yeah, yep, great, perfect, okay, ok, nice, good, cool, thanks, wow, oh, ah, alright, sure, yup, sweet, excellent, lovely, oh great, oh nice, aha, brilliant, super`,
);

/** What people say beside what they mean. */
export const ASIDES = list(
  `honestly, frankly, to be honest, I think, I guess, mate, my friend, you know, really, in my opinion, for me, man, dear, I must say, if you ask me`,
);

/** What `{that}` stands for. */
export const THAT = list(`
  that, this, it, that one, that, this, it, this one, the answer, your answer, the result, the list, the booking, the table, the restaurant, the hotel
  the flight, the movie, the song, the time, the date, the price, the number, the name, the place, your suggestion, your choice, your reply, this stuff
`);
