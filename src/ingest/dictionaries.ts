import type { Signature } from '../decode/types.ts'
import { createDictionary, type Dictionary } from '../engine/index/dictionary.ts'
import type { StoredDictionaries } from '../engine/lookups/dictionaries.ts'
import { createAddressFilter } from './address-filter.ts'
import type { AddedSignatures, SignatureIds } from './signatures.ts'

/** Gives ids to repeated values of documents. Signatures are few enough to keep all of them in memory. */
export interface Dictionaries {
  addresses: Dictionary
  names: Dictionary
  signatures: SignatureIds & { takeAdded(): AddedSignatures }
}

/** Those of a thread that builds all batches of a store. `capacity` is that of the addresses; see `DictionaryOptions`. */
export const createDictionaries = (stored: StoredDictionaries, capacity?: number): Dictionaries => {
  const filter = createAddressFilter(stored.last('address'), stored.addresses())
  return {
    addresses: createDictionary({
      last: stored.last('address'),
      find: digits => (filter.add(digits) ? stored.address(digits) : undefined),
      ...(capacity !== undefined && { capacity }),
    }),
    names: createDictionary({ last: stored.last('name'), find: stored.name }),
    signatures: createSignatureIds(stored),
  }
}

const createSignatureIds = (stored: StoredDictionaries): Dictionaries['signatures'] => {
  const rows = stored.signatures()
  const ids = new Map(rows.map(({ id, key }) => [key, id]))
  let next = rows.reduce((most, { id }) => Math.max(most, id), 0) + 1
  let added: AddedSignatures = { first: next, entries: [] }
  return {
    find: key => ids.get(key),
    add(signature: Signature, most) {
      if (next >= most) return undefined
      ids.set(signature.key, next)
      added.entries.push(signature)
      return next++
    },
    takeAdded() {
      const taken = added
      added = { first: next, entries: [] }
      return taken
    },
  }
}
