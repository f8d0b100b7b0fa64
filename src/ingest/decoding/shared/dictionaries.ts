import type { Signature } from '../../../decode/types.ts'
import type { StoredDictionaries } from '../../../engine/dictionary-reader.ts'
import { type Added, createDictionary, type Dictionary } from '../../../engine/index/dictionary.ts'
import { createFilterMemory, openAddressFilter, type SignatureIds } from '../dictionaries.ts'
import {
  type AddressesMemory,
  createAddressesMemory,
  joinAddresses,
  locked,
  NoRoom,
  ownAddresses,
} from './addresses.ts'

/** Texts of several threads: a log in shared memory that each thread reads up before it adds. */
type SharedTexts = ReturnType<typeof openTexts>

export interface TextsMemory {
  state: SharedArrayBuffer
  bytes: SharedArrayBuffer
}

interface TextsOptions {
  /** Part of a text that is its key; default all of it. */
  keyOf?: (text: string) => string
  load?: () => Iterable<[key: string, id: number]>
}

const FIRST_TEXT = 1
const TEXT_COUNT = 2
const USED = 3
const EPOCH = 4
/** The owner continues alone: its new ids are not in the log. */
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
    /** Undefined if no thread has added it. */
    find(key: string): number | undefined {
      catchUp()
      return ids.get(key)
    },
    /** Adds a text unless another thread just did; undefined if its id would reach `most`. */
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

/** For the one thread that hands on the additions of all. */
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
    /** Takes entries added since the last call, in the order of ids. */
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
    /** Requires that all are stored and no other thread looks any up. */
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

/** Length in UTF-16 units, then the units, which preserve any text. */
const TEXT_HEAD = 4
const textSize = (text: string): number => TEXT_HEAD + text.length * 2
const textFrom = (bytes: Buffer, at: number): string =>
  bytes.toString('utf16le', at + TEXT_HEAD, at + TEXT_HEAD + bytes.readUInt32LE(at) * 2)

export interface DictionariesMemory {
  addresses: AddressesMemory
  names: TextsMemory
  signatures: TextsMemory
}

export interface Room {
  addresses?: number
  texts?: number
}

/** Dictionaries of a thread that builds pieces of batches. `id` may throw `NoRoom`. */
export interface JoinedDictionaries {
  addresses: Pick<Dictionary, 'id'>
  names: Pick<Dictionary, 'id'>
  signatures: SignatureIds
}

/** Dictionaries of the thread that assembles batches; it hands on the entries of all threads. */
export const ownDictionaries = (stored: StoredDictionaries, room: Room = {}, capacity?: number) => {
  const memory = createDictionariesMemory(stored, room)
  const addresses = ownAddresses(memory.addresses, { hashKeys: stored.hashKeys, find: stored.address, capacity })
  const names = ownTexts(memory.names)
  const signatures = ownTexts(memory.signatures, signatureOptions(stored))
  const all = [addresses, names, signatures]
  return {
    memory,
    addresses: { id: addresses.id, takeAdded: addresses.takeAdded, written: () => {} },
    names: { ...cacheIds(nameId(names, stored)), takeAdded: names.takeAdded, written: () => {} },
    signatures: {
      ...signatureIds(signatures),
      takeAdded() {
        const { first, texts } = signatures.takeAdded()
        return { first, entries: texts.map(text => JSON.parse(text) as Signature) }
      },
    },
    isFilling: () => all.some(one => one.isFilling()),
    /** Makes room when all is stored and no thread builds; false if entries are not taken yet. */
    reset() {
      if (!all.every(one => one.isTaken())) return false
      for (const one of all) one.reset()
      return true
    },
  }
}

export const joinDictionaries = (memory: DictionariesMemory, stored: StoredDictionaries): JoinedDictionaries => ({
  addresses: joinAddresses(memory.addresses, { hashKeys: stored.hashKeys, find: stored.address }),
  names: cacheIds(nameId(joinTexts(memory.names), stored)),
  signatures: signatureIds(joinTexts(memory.signatures, signatureOptions(stored))),
})

const createDictionariesMemory = (stored: StoredDictionaries, room: Room): DictionariesMemory => {
  const filter = createFilterMemory(stored.last('address'), bytes => new SharedArrayBuffer(bytes))
  const { add } = openAddressFilter(filter)
  if (filter) for (const digits of stored.addresses()) add(digits)
  const lastSignature = stored.signatures().reduce((most, { id }) => Math.max(most, id), 0)
  return {
    addresses: createAddressesMemory(stored.last('address') + 1, filter, room.addresses),
    names: createTextsMemory(stored.last('name') + 1, room.texts),
    signatures: createTextsMemory(lastSignature + 1, room.texts),
  }
}

/** Ids never change, so a thread may cache and forget any number of them. */
const cacheIds = (find: (text: string) => number): Pick<Dictionary, 'id'> =>
  createDictionary({ last: Number.POSITIVE_INFINITY, find })
const nameId = (names: SharedTexts, stored: StoredDictionaries) => (name: string) =>
  names.find(name) ?? stored.name(name) ?? names.add(name, name)!
const signatureOptions = (stored: StoredDictionaries) => ({
  keyOf: (text: string) => (JSON.parse(text) as Signature).key,
  load: () => stored.signatures().map(({ key, id }): [string, number] => [key, id]),
})

const signatureIds = (texts: SharedTexts): SignatureIds => ({
  find: texts.find,
  add: (signature, most) => texts.add(signature.key, JSON.stringify(signature), most),
})
