import { SLOTS, slotOf } from './hash.ts'

/**
 * Keeps what was made of texts, of each slot of `slotOf` the latest. For texts of which most come again soon, as addresses and topics do,
 * this is faster than a Map, which reads a text as a whole before it looks. What is made holds an equal text, maybe a copy: a text that is
 * part of a larger one would keep that alive.
 */
export const keepLatest = <T extends { readonly text: string }>(make: (text: string) => T): ((text: string) => T) => {
  const latest: (T | undefined)[] = new Array(SLOTS).fill(undefined)
  return text => {
    const slot = slotOf(text)
    const known = latest[slot]
    if (known?.text === text) return known
    const made = make(text)
    latest[slot] = made
    return made
  }
}
