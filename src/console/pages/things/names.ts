import { useEffect } from 'preact/hooks'
import { search } from '../../api/index.ts'
import { textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { createStore, type Store, useStore } from '../../shell/state.ts'
import { numberAt } from './read.ts'

/** What is known of an address: all of it absent where it is neither a contract nor a token. */
export interface Known {
  name?: string | undefined
  symbol?: string | undefined
  decimals?: number | undefined
  /** Of the token. */
  standard?: string | undefined
}

interface Book {
  /** By address in lower case. */
  known: Store<ReadonlyMap<string, Known>>
  asked: Set<string>
  waiting: Set<string>
}

const books = new Map<string, Book>()
/** Addresses that come into sight within this time are asked for together. */
const GATHER_MS = 20
const AT_ONCE = 400
const MOST_KEPT = 20_000

/** What the address is known as: addresses in sight are looked up together, and once. */
export const useKnown = (network: string, address: string): Known | undefined => {
  const book = bookOf(network)
  const known = useStore(book.known)
  useEffect(() => want(network, address), [network, address])
  return known.get(address.toLowerCase())
}

const bookOf = (network: string): Book => {
  let book = books.get(network)
  if (!book || book.asked.size > MOST_KEPT) {
    book = { known: createStore<ReadonlyMap<string, Known>>(new Map()), asked: new Set(), waiting: new Set() }
    books.set(network, book)
  }
  return book
}

const want = (network: string, address: string) => {
  const book = bookOf(network)
  const key = address.toLowerCase()
  if (book.asked.has(key)) return
  book.asked.add(key)
  if (book.waiting.size === 0) setTimeout(() => void askFor(network, book), GATHER_MS)
  book.waiting.add(key)
}

const askFor = async (network: string, book: Book) => {
  const addresses = [...book.waiting]
  book.waiting.clear()
  for (let from = 0; from < addresses.length; from += AT_ONCE) {
    const values = addresses.slice(from, from + AT_ONCE)
    try {
      const _source = ['name', 'symbol', 'decimals', 'standard']
      const { hits } = await search(network, ['token', 'contract'], {
        query: { ids: { values } },
        size: 1_000,
        _source,
      })
      book.known.set(new Map([...book.known.get(), ...entriesOf(hits.hits)]))
    } catch {
      // Without a name, an address is shown as it is; who comes by later asks again.
      for (const value of values) book.asked.delete(value)
    }
  }
}

const entriesOf = (hits: readonly Hit[]): Map<string, Known> => {
  const found = new Map<string, Known>()
  for (const { _type, _id, _source } of hits) {
    const before = found.get(_id) ?? {}
    const text = (path: string) => textAt(_source, path) || undefined
    if (_type === 'contract') found.set(_id, { ...before, name: text('name') ?? before.name })
    else
      found.set(_id, {
        name: before.name ?? text('name'),
        symbol: text('symbol'),
        decimals: numberAt(_source, 'decimals'),
        standard: text('standard'),
      })
  }
  return found
}
