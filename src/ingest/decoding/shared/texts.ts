import type { Added } from '../../../engine/index/dictionary.ts'

/** Texts of several threads: a log in shared memory that each reads to its end before it adds. */
export type SharedTexts = ReturnType<typeof openTexts>

export interface TextsMemory {
  state: SharedArrayBuffer
  bytes: SharedArrayBuffer
}

interface TextsOptions {
  /** The part of a text that is its key; default all of it. */
  keyOf?: (text: string) => string
  load?: () => Iterable<[key: string, id: number]>
}

const FIRST_TEXT = 1
const TEXT_COUNT = 2
const USED = 3
const EPOCH = 4
/** The owner goes on alone: ids that it gave are not in the log. */
const SEALED = 5
const TEXT_WORDS = 6

const TEXT_ROOM = 1 << 23

export const createTextsMemory = (first: number, room = TEXT_ROOM): TextsMemory => {
  const state = new SharedArrayBuffer(TEXT_WORDS * 4)
  new Int32Array(state)[FIRST_TEXT] = first
  return { state, bytes: new SharedArrayBuffer(room) }
}

export const joinTexts = (memory: TextsMemory, options: TextsOptions = {}) => openTexts(memory, options)

const openTexts = (
  memory: TextsMemory,
  { keyOf = text => text, load = () => [] }: TextsOptions,
  onNoRoom: (text: string) => number = () => {
    throw new NoRoom()
  },
) => {
  const state = new Int32Array(memory.state)
  const bytes = Buffer.from(memory.bytes)
  let ids = new Map(load())
  let epoch = Atomics.load(state, EPOCH)
  let [read, seen] = [0, 0]

  const catchUp = () => {
    if (Atomics.load(state, EPOCH) !== epoch) {
      epoch = Atomics.load(state, EPOCH)
      ids = new Map(load())
      read = 0
      seen = 0
    }
    const used = Atomics.load(state, USED)
    while (read < used) {
      const text = textFrom(bytes, read)
      read += textSize(text)
      ids.set(keyOf(text), state[FIRST_TEXT]! + seen++)
    }
  }

  const append = (text: string): number => {
    const used = state[USED]!
    if (state[SEALED] || used + textSize(text) > bytes.length) return onNoRoom(text)
    bytes.writeUInt32LE(text.length, used)
    bytes.write(text, used + TEXT_HEAD, 'utf16le')
    const id = state[FIRST_TEXT]! + state[TEXT_COUNT]!++
    // Entries before the end are complete.
    Atomics.store(state, USED, used + textSize(text))
    return id
  }

  return {
    /** Undefined where no thread has added it. */
    find(key: string): number | undefined {
      catchUp()
      return ids.get(key)
    },
    /** Adds a text, unless another thread just did; undefined where its id would reach `most`. */
    add: (key: string, text: string, most = Number.POSITIVE_INFINITY): number | undefined =>
      locked(state, () => {
        catchUp()
        const known = ids.get(key)
        if (known !== undefined) return known
        if (state[FIRST_TEXT]! + state[TEXT_COUNT]! >= most) return undefined
        const id = append(text)
        ids.set(key, id)
        return id
      }),
  }
}

/** For the one thread that hands on what all threads add. */
export const ownTexts = (memory: TextsMemory, options: TextsOptions = {}) => {
  const state = new Int32Array(memory.state)
  const bytes = Buffer.from(memory.bytes)
  let alone: string[] = []
  let [taken, takenTexts] = [0, 0]
  const texts = openTexts(memory, options, text => {
    state[SEALED] = 1
    return state[FIRST_TEXT]! + state[TEXT_COUNT]! + alone.push(text) - 1
  })

  return {
    ...texts,
    /** What was added since the last call, in the order of ids. */
    takeAdded() {
      const [used, count] = locked(state, () => [state[USED]!, state[TEXT_COUNT]!])
      const added: Added = { first: state[FIRST_TEXT]! + takenTexts, texts: [] }
      while (taken < used) {
        const text = textFrom(bytes, taken)
        taken += textSize(text)
        added.texts.push(text)
      }
      added.texts.push(...alone.slice(Math.max(0, takenTexts - count)))
      takenTexts += added.texts.length
      return added
    },
    isTaken: () => takenTexts === state[TEXT_COUNT]! + alone.length,
    isFilling: () => state[SEALED] === 1 || state[USED]! > bytes.length / 2,
    /** All are stored, and no other thread looks for any at the moment. */
    reset() {
      state[FIRST_TEXT]! += state[TEXT_COUNT]! + alone.length
      for (const word of [TEXT_COUNT, USED, SEALED]) state[word] = 0
      alone = []
      taken = 0
      takenTexts = 0
      Atomics.add(state, EPOCH, 1)
    },
  }
}

/** The number of a text's UTF-16 units, then these: any text comes back as it was. */
const TEXT_HEAD = 4
const textSize = (text: string): number => TEXT_HEAD + text.length * 2
const textFrom = (bytes: Buffer, at: number): string =>
  bytes.toString('utf16le', at + TEXT_HEAD, at + TEXT_HEAD + bytes.readUInt32LE(at) * 2)

const LOCK_FREE = 0
const LOCK_HELD = 1
const LOCK_AWAITED = 2

/** Longest sleep: who holds the lock may have ended, and the sleeper may have to end, too. */
const NAP_MS = 1000
/** Nobody holds it for more than milliseconds: after as many naps, who did has ended. */
const MAX_NAPS = 10

/** Runs under the lock in the first word of `state`. Not to be nested; throws if never released. */
export const locked = <T>(state: Int32Array<SharedArrayBuffer>, run: () => T): T => {
  if (Atomics.compareExchange(state, 0, LOCK_FREE, LOCK_HELD) !== LOCK_FREE)
    for (let naps = 0; Atomics.exchange(state, 0, LOCK_AWAITED) !== LOCK_FREE; ) {
      if (naps === MAX_NAPS) throw new Error('a thread ended while it held a lock')
      if (Atomics.wait(state, 0, LOCK_AWAITED, NAP_MS) === 'timed-out') naps++
    }
  try {
    return run()
  } finally {
    if (Atomics.exchange(state, 0, LOCK_FREE) === LOCK_AWAITED) Atomics.notify(state, 0, 1)
  }
}

export class NoRoom extends Error {
  constructor() {
    super('the shared dictionaries have no room left')
  }
}
