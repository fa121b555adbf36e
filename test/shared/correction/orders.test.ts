/** Where a value begins in an order, and where what looks like an order's verb is a part of a name. */
import { describe, expect, it } from "vitest";
import { withoutOrder } from "../../../shared/correction/orders.ts";

describe("withoutOrder", () => {
  it.each([
    ["Prefer Condor as my airline from now on.", "Prefer Condor", "Condor"],
    ["Choose Blue Note as the venue.", "Choose Blue Note", "Blue Note"],
    ["No! Select Condor.", "Select Condor", "Condor"],
    ["Wrong. Order Lavazza next time.", "Order Lavazza", "Lavazza"],
    ["please take condor as airline", "take condor", "condor"],
    ["No, always book condor.", "book condor", "condor"],
    ["Hire Dana for such things.", "hire Dana", "Dana"],
    ["I want you to assign Dana.", "assign Dana", "Dana"],
    ["Stay at home? No. Rent Hertz cars.", "Rent Hertz", "Hertz"],
  ])("takes the verb from what is ordered: %s", (words, value, told) => expect(withoutOrder(words, value)).toBe(told));

  it.each([
    ["No, the artist should be Take That.", "Take That"],
    ["Book Nook is the shop I meant.", "Book Nook"],
    ["I meant Get Lucky, always.", "Get Lucky"],
    ["No, Fly Emirates!", "Fly Emirates"],
    ["I told you to play Choose Life.", "Choose Life"],
    ["The title should be Buy milk.", "Buy milk"],
    ["Title: Add tests", "Add tests"],
    ['"Buy milk" is the title.', "Buy milk"],
    ["Porto, please.", "Porto"],
    ["Stay.", "Stay"],
    ["Booking Holdings, please.", "Booking Holdings"],
  ])("leaves names as they are: %s", (words, value) => expect(withoutOrder(words, value)).toBe(value));
});
