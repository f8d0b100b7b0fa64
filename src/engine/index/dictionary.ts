import { keepLatest } from '../../lib/caches.ts'

/**
 * A dictionary on the side that decodes: gives text a small integer, remembering what the store knows already. What it adds is handed on
 * (`takeAdded`) to be written with or before the first rows that use it; ids that were never written are never seen by anyone.
 */
export type Dictionary = ReturnType<typeof createDictionary>

export interface Added {
  /** Id of the first text. */
  first: number
  texts: string[]
}

export interface DictionaryOptions {
  /** Highest id that is stored. */
  last: number
  find(text: string): number | undefined
  /** Entries that one of the two generations of the cache holds. */
  capacity?: number
}

interface Entry {
  text: string
  id: number
}

export const createDictionary = ({ last, find, capacity = 200_000 }: DictionaryOptions) => {
  let next = last + 1
  /** The store can find all up to here. */
  let writtenUpTo = last
  // Two generations make a cheap least-recently-used cache: what is not asked for while one fills is dropped with the other, unless the
  // store cannot find it yet.
  let young = new Map<string, Entry>()
  let old = new Map<string, Entry>()
  let most = capacity
  let added: Added = { first: next, texts: [] }

  const remember = (entry: Entry): Entry => {
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

  const entryOf = keepLatest((text): Entry => {
    const known = young.get(text)
    if (known) return known
    const older = old.get(text)
    if (older) return remember(older)
    const own = detach(text)
    return remember({ text: own, id: find(own) ?? add(own) })
  })

  return {
    id: (text: string): number => entryOf(text).id,
    /** What was added since the last call, in the order of ids. */
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

/** A copy that does not keep the (maybe huge) text alive that it is a slice of. */
const detach = (text: string): string => {
  // Addresses and most names are short and ASCII, and take a byte a character.
  if (text.length <= FEW && copy.write(text, 0) === text.length) return copy.toString('latin1', 0, text.length)
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

const FEW = 100
const copy = Buffer.allocUnsafeSlow(3 * FEW)
