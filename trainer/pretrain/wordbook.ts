/** Plain English for services that nobody has built: what they are about, how their tools and parameters are called, how people say a value. */

/** What a value is, and so how it is drawn and said. */
export type Kind = "place" | "name" | "date" | "time" | "count" | "amount" | "flag" | "choice";

/** Things that a tool can find or arrange. */
export const NOUNS: readonly string[] = (
  "parcel ferry dentist plumber garden museum lecture ticket scooter bicycle kayak recipe invoice tutor painter tailor florist bakery gym yoga swim " +
  "concert festival theater cruise cabin tent campsite villa hostel loft office desk studio locker warehouse truck van trailer tractor drone camera " +
  "printer laptop phone tablet charger battery bulb sofa mattress carpet window roof kitchen cleaner nanny sitter walker groomer vet kennel stable " +
  "horse puppy aquarium clinic therapist surgeon optician pharmacy vaccine prescription allergy diet meal lunch brunch banquet caterer chef waiter " +
  "wine cheese coffee tea juice cake pizza burger salad grocery basket coupon voucher refund loan mortgage deposit payment salary pension insurance " +
  "claim policy lawyer notary passport visa permit license exam course class seminar workshop degree library book novel magazine newspaper podcast " +
  "episode playlist album guitar piano violin choir dance opera ballet gallery sculpture poster photo portrait video game puzzle chess league match " +
  "stadium marathon hike trail mountain beach island lake river harbor boat sail dive surf ski lodge lift sled train tram metro taxi shuttle ride " +
  "carpool route bridge tunnel toll garage parking tire engine wash repair tow mechanic alarm timer reminder task note meeting interview appointment " +
  "contract message email letter stamp courier survey poll donation charity volunteer shelter blanket coat shoe jacket dress watch ring necklace"
).split(" ");

/** Verbs of tools that look things up, and of tools that change something, with the words that people use for them. */
export const FINDING: readonly string[] = ["Find", "Search", "Lookup", "Get", "Browse", "List", "Show", "Check", "Discover", "Explore"];
export const ARRANGING: readonly string[] = [
  "Book",
  "Reserve",
  "Order",
  "Buy",
  "Schedule",
  "Rent",
  "Request",
  "Add",
  "Create",
  "Send",
  "Arrange",
  "Purchase",
];

/** Parameters that count people, or units of time: how many nobody says by the parameter's name. */
export const COUNTED: readonly { names: readonly string[]; sayings: readonly string[] }[] = [
  {
    names: ["travelers", "passengers", "guests", "party_size", "people", "riders", "group_size", "attendees", "seats"],
    sayings: ["for {value} people", "there will be {value} of us", "for {value}", "{value} people", "{value} of us", "a group of {value}"],
  },
  {
    names: ["number_of_days", "stay_length", "duration", "nights", "rental_length", "length_in_days"],
    sayings: ["for {value} days", "{value} days", "for {value} nights", "staying {value} nights", "{value} days long"],
  },
];

/** Last words of parameters' names by kind; `{noun}` takes any noun. */
export const HEADS: Readonly<Record<Kind, readonly string[]>> = {
  place: [
    "city",
    "location",
    "area",
    "place",
    "address",
    "town",
    "destination",
    "region",
    "district",
    "site",
    "{noun}_location",
    "city_of_{noun}",
  ],
  name: ["name", "title", "owner", "company", "brand", "contact", "author", "host", "model", "label", "{noun}_name", "{noun}_title"],
  date: ["date", "day", "{noun}_date", "date_of_{noun}", "on_date"],
  time: ["time", "hour", "{noun}_time", "start_time", "time_of_{noun}"],
  count: [
    "number_of_{noun}s",
    "{noun}s",
    "{noun}_count",
    "num_{noun}s",
    "quantity",
    "{noun}_length",
    ...COUNTED.flatMap(({ names }) => names),
  ],
  amount: ["amount", "price", "budget", "{noun}_price", "max_price", "weight", "{noun}_amount", "total"],
  flag: ["has_{noun}", "{noun}_included", "needs_{noun}", "with_{noun}", "{noun}_allowed", "is_{noun}_free", "offers_{noun}"],
  choice: ["type", "category", "class", "size", "style", "color", "level", "{noun}_type", "{noun}_class", "kind", "subcategory", "genre"],
};

/** Ends of words that begin alike. */
export const ENDINGS: readonly string[] = ["er", "ist", "ing", "ette", "ology", "an", "ese", "ic", "al", "ium", "o", "ia", "ure", "ment"];

type Pair = { kind: Kind; names: readonly [string, string]; words: readonly [readonly string[], readonly string[]] };
const FROM_TO = [
  ["from", "leaving", "starting at", "out of", "departing from"],
  ["to", "going to", "into", "with the destination", "bound for", "heading for"],
] as const;
const START_END = [
  ["starting", "from", "beginning", "starting on", "as of"],
  ["until", "ending", "till", "up to", "through", "and it ends"],
] as const;
const OUT_BACK = [
  ["leaving", "leaving on", "going", "departing", "setting off on", "flying out"],
  ["returning", "coming back", "back", "with the return on", "back home on", "and I return"],
] as const;
const PICKUP_DROPOFF = [
  ["picked up on", "pickup on", "I'll get it", "I need it from", "collecting it"],
  ["dropped off on", "until", "returned", "I'll bring it back", "I need it until", "giving it back"],
] as const;

/** Two parameters of one kind that only their words tell apart: name parts, and what people say before the value. */
export const PAIRS: readonly Pair[] = [
  { kind: "place", names: ["from_{head}", "to_{head}"], words: FROM_TO },
  { kind: "place", names: ["origin_{head}", "destination_{head}"], words: FROM_TO },
  { kind: "place", names: ["origin", "destination"], words: FROM_TO },
  {
    kind: "place",
    names: ["start_{head}", "end_{head}"],
    words: [
      ["starting in", "beginning in"],
      ["ending in", "finishing in"],
    ],
  },
  {
    kind: "place",
    names: ["pickup_{head}", "dropoff_{head}"],
    words: [
      ["picked up in", "collected in"],
      ["dropped off in", "left in"],
    ],
  },
  { kind: "place", names: ["departure_{head}", "arrival_{head}"], words: FROM_TO },
  { kind: "date", names: ["pickup_{head}", "dropoff_{head}"], words: PICKUP_DROPOFF },
  { kind: "date", names: ["pickup_{head}", "return_{head}"], words: PICKUP_DROPOFF },
  { kind: "date", names: ["start_{head}", "end_{head}"], words: START_END },
  { kind: "date", names: ["departure_{head}", "return_{head}"], words: OUT_BACK },
  { kind: "date", names: ["outbound_{head}", "inbound_{head}"], words: OUT_BACK },
  {
    kind: "date",
    names: ["check_in_{head}", "check_out_{head}"],
    words: [
      ["checking in on", "check in", "arriving", "from"],
      ["checking out", "check out on", "leaving on", "until"],
    ],
  },
  { kind: "date", names: ["{head}_from", "{head}_until"], words: START_END },
  { kind: "time", names: ["opening_{head}", "closing_{head}"], words: START_END },
  {
    kind: "time",
    names: ["pickup_{head}", "return_{head}"],
    words: [
      ["picked up at", "I'll come at"],
      ["back by", "returned at"],
    ],
  },
  {
    kind: "name",
    names: ["sender_{head}", "recipient_{head}"],
    words: [
      ["from", "sent by"],
      ["to", "for"],
    ],
  },
  {
    kind: "name",
    names: ["written_by", "performed_by"],
    words: [
      ["written by", "by the writer"],
      ["performed by", "sung by"],
    ],
  },
  {
    kind: "name",
    names: ["director", "actor"],
    words: [
      ["directed by", "from the director"],
      ["starring", "with", "played by"],
    ],
  },
  {
    kind: "count",
    names: ["number_of_adults", "number_of_children"],
    words: [
      ["adults:", "adults"],
      ["children:", "kids:"],
    ],
  },
];

/** How a value of the kind is said in passing; `{unit}` is the parameter in words. */
export const SAYINGS: Readonly<Record<Exclude<Kind, "flag">, readonly string[]>> = {
  place: ["in {value}", "near {value}", "around {value}", "in {value}", "somewhere in {value}"],
  name: ["called {value}", "by {value}", "with {value}", "the {unit} is {value}", "the {unit} should be {value}"],
  date: ["on {value}", "for {value}", "on {value}", "{value}"],
  time: ["at {value}", "around {value}", "at {value}", "for {value}"],
  count: ["{value} {unit}", "for {value} {unit}", "the {unit} is {value}", "{unit}: {value}"],
  amount: ["{value} {unit}", "the {unit} is {value}", "a {unit} of {value}", "{unit} {value}"],
  choice: ["{value}", "a {value} one", "{value} {unit}", "the {unit} is {value}", "of the {unit} {value}", "preferably {value}"],
};
export const YES_SAYINGS: readonly string[] = [
  "with {unit}",
  "it should have {unit}",
  "{unit} is a must",
  "I need {unit}",
  "{unit}: yes",
  "{unit} please",
];
export const NO_SAYINGS: readonly string[] = ["without {unit}", "no {unit}", "I don't need {unit}", "{unit} is not needed", "{unit}: no"];

export const OPENERS: readonly string[] = [
  "I want to {tool}",
  "Can you {tool}",
  "I'd like to {tool}",
  "I need to {tool}",
  "Please {tool}",
  "Could you help me {tool}",
  "Help me {tool}",
  "I'm looking to {tool}",
  "Would you {tool} for me",
  "{tool}",
];
export const QUESTIONS: readonly string[] = [
  "What {unit} would you like?",
  "What is the {unit}?",
  "Which {unit} should I use?",
  "May I know the {unit}?",
  "Do you have a preferred {unit}?",
  "Sure, what {unit}?",
  "Please tell me the {unit}.",
];
export const CONFIRMATIONS: readonly string[] = [
  "Please confirm the following details: {details}.",
  "Just to confirm: {details}. Is that right?",
  "Let me check: {details}. Shall I go ahead?",
  "So that is {details}, correct?",
];
export const AGREEMENTS: readonly string[] = [
  "Yes, please.",
  "Yes, that's correct.",
  "Sounds good.",
  "Yes.",
  "That's right, thanks.",
  "Yep, go ahead.",
  "Right, please do.",
  "Okay.",
];
export const CHANGES: readonly string[] = [
  "No, actually {saying}",
  "Wait, make that {saying}",
  "Almost, but {saying}",
  "No, {saying}",
  "Change it, {saying} please",
  "Not quite, {saying}",
  "Can we do it {saying} instead?",
  "Everything but one thing: {saying}",
];
export const OFFERS: readonly string[] = [
  "I found {title}. Would you like that?",
  "How about {title}?",
  "There is {title}, for example.",
  "I have {count} results; {title} is a nice one.",
  "What do you think of {title}?",
];
export const ALTERNATIVES: readonly string[] = [
  "Is there anything else?",
  "What else do you have?",
  "Not that one. Any others?",
  "Something else, please.",
];
export const TAKEN: readonly string[] = ["That works. ", "Great. ", "I like that. ", "Perfect, ", "Okay, ", "", "Sounds nice. "];
/** What a tool may return when it has arranged something; `{values}` is an object of the call's arguments. */
export const RECEIPTS: readonly string[] = [
  '{"status": "ok"}',
  '{"count": 1, "results": [{values}]}',
  '{"count": 1, "results": [{values}]}',
  '{"count": 1, "results": [{values}]}',
  '{"status": "success"}',
  '{"status": "success", "id": "{code}"}',
  '{"success": true, "reference": "{code}"}',
  '{"ok": true}',
  '{"result": {values}}',
  "[{values}]",
  '{"confirmation": "{code}", "details": {values}}',
  "Done, reference {code}",
  "OK",
];
/** What a tool may return when it could not, and what there is to say then. */
export const FAILURES: readonly string[] = [
  '{"error": "not available"}',
  '{"status": "failed", "reason": "{code}"}',
  '{"count": 0, "results": []}',
  "Error: could not be completed",
];
export const REGRETS: readonly string[] = [
  "I am sorry, that did not work.",
  "Sorry, that is not available.",
  "It could not be done. Shall I try something else?",
  "Unfortunately, it failed.",
];
export const SUCCESSES: readonly string[] = [
  "All done.",
  "Your request went through.",
  "That has been arranged.",
  "It is confirmed.",
  "Done, anything else?",
];
