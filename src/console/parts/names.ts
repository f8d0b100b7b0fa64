import { useContext, useEffect } from 'preact/hooks'
import { searchDocuments } from '../api/client.ts'
import { textAt, valueAt } from '../api/json.ts'
import type { SearchHit } from '../api/wire.ts'
import { createStore, type Store, useStore } from '../browser/state.ts'
import { NetworkContext } from './text.tsx'

/** Known facts of an address; empty for unknown ones. */
export interface KnownAddress {
  name?: string | undefined
  symbol?: string | undefined
  decimals?: number | undefined
  standard?: string | undefined
}

interface Book {
  /** By lower-case address. */
  known: Store<ReadonlyMap<string, KnownAddress>>
  /** Last request per address. */
  asked: Map<string, number>
  waiting: Set<string>
}

const books = new Map<string, Book>()
/** Requests within this time are combined. */
const GATHER_MS = 20
const IDS_AT_ONCE = 400
const MOST_KEPT = 20_000
/** Unknown addresses are asked again after this time. */
const UNKNOWN_MS = 30_000

/** Known facts of an address; visible addresses are looked up together. */
export const useKnown = (address: string): KnownAddress | undefined => {
  const network = useContext(NetworkContext)
  const known = useStore(addressBook(network).known)
  useEffect(() => want(network, address.toLowerCase()), [network, address])
  return known.get(address.toLowerCase())
}

const addressBook = (network: string): Book => {
  let book = books.get(network)
  if (!book || book.asked.size > MOST_KEPT) {
    book = { known: createStore<ReadonlyMap<string, KnownAddress>>(new Map()), asked: new Map(), waiting: new Set() }
    books.set(network, book)
  }
  return book
}

const want = (network: string, address: string) => {
  const book = addressBook(network)
  const isRecent = Date.now() - (book.asked.get(address) ?? 0) < UNKNOWN_MS
  if (address === '' || isRecent || book.known.get().has(address)) return
  book.asked.set(address, Date.now())
  if (book.waiting.size === 0) setTimeout(() => void lookUp(network, book), GATHER_MS)
  book.waiting.add(address)
}

const lookUp = async (network: string, book: Book) => {
  const addresses = [...book.waiting]
  book.waiting.clear()
  for (let from = 0; from < addresses.length; from += IDS_AT_ONCE) {
    const values = addresses.slice(from, from + IDS_AT_ONCE)
    const _source = ['name', 'symbol', 'decimals', 'standard']
    try {
      const { hits } = await searchDocuments(network, ['token', 'contract'], {
        query: { ids: { values } },
        size: 1_000,
        _source,
      })
      book.known.set(new Map([...book.known.get(), ...knownEntries(hits.hits)]))
    } catch {
      // The address is shown without a name; the next use retries.
      for (const value of values) book.asked.delete(value)
    }
  }
}

const knownEntries = (hits: readonly SearchHit[]): Map<string, KnownAddress> => {
  const found = new Map<string, KnownAddress>()
  for (const { _type, _id, _source } of hits) {
    const before = found.get(_id.toLowerCase()) ?? {}
    const text = (path: string) => textAt(_source, path) || undefined
    const decimals = valueAt(_source, 'decimals')
    const token = {
      name: before.name ?? text('name'),
      symbol: text('symbol'),
      decimals: typeof decimals === 'number' && decimals >= 0 && decimals <= 77 ? decimals : undefined,
      standard: text('standard'),
    }
    found.set(_id.toLowerCase(), _type === 'token' ? token : { ...before, name: text('name') ?? before.name })
  }
  return found
}
