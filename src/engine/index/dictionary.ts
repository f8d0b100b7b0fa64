import { createSlotCache } from '../../lib/caches.ts'

/**
 * Numbers texts on the side that decodes. New entries (`takeAdded`) are written with the first rows
 * that use them; an id that was never written is never seen.
 */
export type Dictionary = ReturnType<typeof createDictionary>

export interface Added {
  first: number
  texts: string[]
}

export interface DictionaryOptions {
  last: number
  find(text: string): number | undefined
  /** Entries of one generation of the cache. */
  capacity?: number
}

interface DictionaryEntry {
  text: string
  id: number
}

export const createDictionary = ({ last, find, capacity = 200_000 }: DictionaryOptions) => {
  let next = last + 1
  let writtenUpTo = last
  // A cheap least-recently-used cache: the older generation is dropped, but for entries that the
  // store cannot find yet.
  let young = new Map<string, DictionaryEntry>()
  let old = new Map<string, DictionaryEntry>()
  let most = capacity
  let added: Added = { first: next, texts: [] }

  const remember = (entry: DictionaryEntry): DictionaryEntry => {
    if (young.size >= most) {
      const dropped = old
      old = young
      young = new Map()
      for (const [text, one] of dropped) if (one.id > writtenUpTo) young.set(text, one)
      most = capacity + young.size
    }
    young.set(entry.text, entry)
    return entry
  }

  const add = (text: string): number => {
    added.texts.push(text)
    return next++
  }

  const entryOf = createSlotCache((text): DictionaryEntry => {
    const known = young.get(text)
    if (known) return known
    const older = old.get(text)
    if (older) return remember(older)
    const own = detachText(text)
    return remember({ text: own, id: find(own) ?? add(own) })
  })

  return {
    id: (text: string): number => entryOf(text).id,
    takeAdded(): Added {
      const taken = added
      added = { first: next, texts: [] }
      return taken
    },
    /** The store has written everything up to this id. */
    written(upTo: number): void {
      writtenUpTo = Math.max(writtenUpTo, upTo)
    },
  }
}

/** A copy: a slice would keep a maybe huge text alive. */
export const detachText = (text: string): string => {
  // Addresses and most names are short and ASCII, and take a byte a character.
  if (text.length <= SHORT_TEXT && scratchText.write(text, 0) === text.length)
    return scratchText.toString('latin1', 0, text.length)
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

const SHORT_TEXT = 100
const scratchText = Buffer.allocUnsafeSlow(3 * SHORT_TEXT)
