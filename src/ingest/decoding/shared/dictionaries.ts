import type { Signature } from '../../../decode/types.ts'
import { createDictionary, type Dictionary } from '../../../engine/index/dictionary.ts'
import type { StoredDictionaries } from '../../../engine/lookups/dictionary-reader.ts'
import { createFilterMemory, openAddressFilter, type SignatureIds } from '../dictionaries.ts'
import { type AddressesMemory, createAddressesMemory, joinAddresses, ownAddresses } from './addresses.ts'
import { createTextsMemory, joinTexts, ownTexts, type SharedTexts, type TextsMemory } from './texts.ts'

export interface DictionariesMemory {
  addresses: AddressesMemory
  names: TextsMemory
  signatures: TextsMemory
}

export interface Room {
  addresses?: number
  texts?: number
}

/** Those of a thread that builds pieces of batches. Its ids may throw `NoRoom`. */
export interface JoinedDictionaries {
  addresses: Pick<Dictionary, 'id'>
  names: Pick<Dictionary, 'id'>
  signatures: SignatureIds
}

/** Those of the thread that puts batches together, and hands on what all threads add. */
export const ownDictionaries = (stored: StoredDictionaries, room: Room = {}, capacity?: number) => {
  const memory = createDictionariesMemory(stored, room)
  const addresses = ownAddresses(memory.addresses, { hashKeys: stored.hashKeys, find: stored.address })
  const names = ownTexts(memory.names)
  const signatures = ownTexts(memory.signatures, signatureOptions(stored))
  const all = [addresses, names, signatures]
  return {
    memory,
    addresses: { ...cacheIds(addresses.id, capacity), takeAdded: addresses.takeAdded, written: () => {} },
    names: { ...cacheIds(nameId(names, stored)), takeAdded: names.takeAdded, written: () => {} },
    signatures: {
      ...signatureIds(signatures),
      takeAdded() {
        const { first, texts } = signatures.takeAdded()
        return { first, entries: texts.map(text => JSON.parse(text) as Signature) }
      },
    },
    isFilling: () => all.some(one => one.isFilling()),
    /** Makes room: all is stored, and no thread builds anything. False where something is not taken yet. */
    reset() {
      if (!all.every(one => one.isTaken())) return false
      for (const one of all) one.reset()
      return true
    },
  }
}

export const joinDictionaries = (memory: DictionariesMemory, stored: StoredDictionaries): JoinedDictionaries => ({
  addresses: cacheIds(joinAddresses(memory.addresses, { hashKeys: stored.hashKeys, find: stored.address }).id),
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

/** Ids hold for good, so that a thread may keep, and forget, as many of them as it likes. */
const cacheIds = (find: (text: string) => number, capacity?: number): Pick<Dictionary, 'id'> =>
  createDictionary({ last: Number.POSITIVE_INFINITY, find, ...(capacity !== undefined && { capacity }) })

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
