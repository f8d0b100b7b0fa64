import { useEffect, useState } from 'preact/hooks'
import { search } from '../../api/index.ts'
import { at, isObject, type Json, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'

/** What an address is known as. */
export interface Known {
  kind: 'token' | 'contract'
  name: string | undefined
  symbol: string | undefined
  decimals: number | undefined
}

export type NameOf = (address: string) => Known | undefined

/** A token by its symbol, a contract by its name. */
export const titleOf = (nameOf: NameOf, address: string): string | undefined => {
  const known = nameOf(address)
  return known && (known.symbol || known.name || undefined)
}

interface Entry {
  known: Known | undefined
  at: number
}

/** By network, then by address in lower case. */
const kept = new Map<string, Map<string, Entry>>()
/** Their addresses have been looked for. */
const seen = new WeakSet<Hit>()
/** What is not known may become so. */
const UNKNOWN_MS = 30_000
const MOST = 500

/** Names of the addresses in some hits, which are asked for together. */
export const useKnown = (network: string, hits: readonly Hit[]): NameOf => {
  const [, draw] = useState({})
  const entries = kept.get(network) ?? new Map<string, Entry>()
  kept.set(network, entries)

  useEffect(() => {
    const now = Date.now()
    const isNew = (address: string) => {
      const entry = entries.get(address)
      return !entry || (!entry.known && now - entry.at > UNKNOWN_MS)
    }
    const unseen = hits.filter(hit => !seen.has(hit))
    for (const hit of unseen) seen.add(hit)
    const wanted = [...new Set(unseen.flatMap(({ _source }) => addressesIn(_source)))].filter(isNew)
    if (wanted.length === 0) return
    // Those that are under way are not asked for twice.
    for (const address of wanted) entries.set(address, { known: undefined, at: now })
    for (let i = 0; i < wanted.length; i += MOST)
      ask(network, entries, wanted.slice(i, i + MOST)).then(
        () => draw({}),
        // A name is missing then, and the address stands in its place.
        () => {},
      )
  }, [network, hits])

  return address => entries.get(address.toLowerCase())?.known
}

const ask = async (network: string, entries: Map<string, Entry>, addresses: readonly string[]) => {
  const body = {
    query: { ids: { values: addresses } },
    _source: ['address', 'name', 'symbol', 'decimals'],
    size: 2 * MOST,
    track_total_hits: false,
  }
  const { hits } = await search(network, ['token', 'contract'], body)
  // A token says more than the contract that it is.
  for (const { _id, _type, _source } of hits.hits.toSorted((a, b) => a._type.localeCompare(b._type))) {
    const decimals = at(_source, 'decimals')
    const known: Known = {
      kind: _type === 'token' ? 'token' : 'contract',
      name: textAt(_source, 'name') ?? entries.get(_id.toLowerCase())?.known?.name,
      symbol: textAt(_source, 'symbol'),
      decimals: typeof decimals === 'number' && decimals >= 0 && decimals <= 77 ? decimals : undefined,
    }
    entries.set(_id.toLowerCase(), { known, at: Date.now() })
  }
}

const ADDRESS = /^0x[0-9a-f]{40}$/i
export const isAddress = (value: Json | undefined): value is string => typeof value === 'string' && ADDRESS.test(value)

const addressesIn = (value: Json): string[] =>
  isAddress(value)
    ? [value.toLowerCase()]
    : Array.isArray(value)
      ? value.slice(0, 20).flatMap(addressesIn)
      : isObject(value)
        ? Object.values(value).flatMap(addressesIn)
        : []
