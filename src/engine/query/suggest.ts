import MiniSearch from 'minisearch'
import type { Token } from '../../decode/registry.ts'
import { KINDS, queryPaths } from '../../mapping/index.ts'
import { fieldId, fieldOfTerm, logTerms, signatureOfLogField, termOf } from '../index/terms.ts'
import type { Segment, StoreReader } from '../reader.ts'
import { createNamedContracts, createTokenNews } from './suggest-contracts.ts'

/** A name that matches the typed text, and the field to search for it. */
export interface NameSuggestion {
  text: string
  kind: 'event' | 'method' | 'field' | 'token' | 'contract'
  /** Field that has it as a value; for a field, its own path. */
  field: string
  /** Entities that have the field, comma-joined as in a path. */
  entity: string
  /** In lower case, or as it was given. */
  address?: string
  /** Name of a token, in addition to its symbol. */
  name?: string
  /** Comparable within one answer only. */
  score: number
}

/** A contract with a user-supplied ABI, named after it. */
export interface NamedContract {
  name: string
  address: string
}

export interface SuggestRequest {
  /** The typed text; if empty, the most frequent events are suggested. */
  q: string
  size: number
  contracts: readonly NamedContract[]
}

/** Autocomplete: suggestions, best first. Call between the reader's `begin` and `end`. */
export type Suggester = (request: SuggestRequest) => NameSuggestion[]

/** Suggests names of one store, including new ones; `tokens` is called when needed. */
export const createSuggester = (reader: StoreReader, tokens: () => readonly Token[]): Suggester => {
  const index = createSuggestIndex()
  const events = new Map<string, SuggestEntry>()
  const occurrences = createOccurrences(reader, signature => {
    const name = reader.signature(signature).event?.name
    return name === undefined ? undefined : events.get(name)
  })
  const methods = new Set<string>()
  const addMethod = (name: string, field: string, entity: string) => {
    methods.add(name)
    index.add({ text: name, kind: 'method', field, entity })
  }
  const findMethods = createMethods(reader, name => addMethod(name, 'method', 'tx'))
  const findTokens = createTokenNews(reader)
  const tokensByAddress = new Map<string, SuggestEntry>()
  const findNamed = createNamedContracts(reader)
  let version: number | undefined
  let signatures = 0
  let calls = 0
  let namedContracts: SuggestEntry[] = []
  let chainId: number | undefined
  let contracts: SuggestEntry[] = []
  let given = '[]'

  const catchUp = () => {
    if (version === undefined)
      for (const [path, entity] of fieldPaths()) index.add({ text: path, kind: 'field', field: path, entity })
    version = reader.version()
    const all = reader.signatures('log')
    for (const { event } of all.slice(signatures))
      if (event && !events.has(event.name))
        events.set(event.name, index.add({ text: event.name, kind: 'event', field: 'event.raw', entity: 'event' }))
    signatures = all.length
    const added = occurrences.catchUp()
    findMethods(added)
    // Other functions are only called by contracts.
    const called = reader.signatures('call')
    for (const { event } of called.slice(calls))
      if (event && !methods.has(event.name)) addMethod(event.name, 'method.raw', 'call')
    calls = called.length
    if (chainId === undefined) {
      chainId = storedChainId(reader)
      for (const token of chainId === undefined ? [] : tokens()) if (token.chainId === chainId) setToken(token)
    }
    for (const token of findTokens()) setToken(token)
    const named = findNamed()
    if (!named) return
    for (const entry of namedContracts) index.remove(entry)
    namedContracts = named.map(({ name, address }) => index.add({ text: name, kind: 'contract', ...EMITTER, address }))
  }

  /** A contract's own symbol has priority over a listed one. */
  const setToken = ({ symbol, name, address }: Pick<Token, 'symbol' | 'address'> & { name?: string | null }) => {
    const before = tokensByAddress.get(address)
    if (before) index.remove(before)
    const entry = { text: symbol, kind: 'token', ...EMITTER, address, ...(name ? { name } : {}) } as const
    tokensByAddress.set(address, index.add(entry))
  }

  const takeContracts = (now: readonly NamedContract[]) => {
    const text = JSON.stringify(now)
    if (text === given) return
    given = text
    for (const entry of contracts) index.remove(entry)
    contracts = now.map(({ name, address }) => index.add({ text: name, kind: 'contract', ...EMITTER, address }))
  }

  return ({ q, size, contracts: now }) => {
    if (reader.version() !== version) catchUp()
    takeContracts(now)
    if (q.trim() !== '') return index.find(q, size)
    return [...events.values()]
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count)
      .slice(0, size)
      .map(entry => show(entry, entry.count))
  }
}

/** The field to search for tokens and contracts: the emitter of events. */
const EMITTER = { field: 'address', entity: 'event' } as const

interface SuggestEntry extends Omit<NameSuggestion, 'score'> {
  id: number
  /** Number of occurrences, if counted. */
  count: number
}

const show = ({ id: _id, count: _count, ...suggestion }: SuggestEntry, score: number): NameSuggestion => ({
  ...suggestion,
  score: Math.round(score * 1000) / 1000,
})

const createSuggestIndex = () => {
  const entries = new Map<number, SuggestEntry>()
  let last = 0
  const search = new MiniSearch<SuggestEntry>({
    fields: ['text', 'words', 'address'],
    extractField: (entry, field) =>
      field === 'words' ? entryWords(entry).join(' ') : entry[field as 'text' | 'address'],
    tokenize: (text, field) => (field === 'words' ? text.split(' ') : [text]),
    searchOptions: {
      tokenize: text => text.trim().split(/\s+/).slice(0, MAX_TYPED_WORDS),
      combineWith: 'AND',
      boost: { text: 3, address: 3 },
      // A name with ten thousand occurrences weighs twice as much as one with none.
      boostDocument: id => 1 + Math.log10(1 + entries.get(id as number)!.count) / 4,
    },
  })
  const found = (q: string, options: Parameters<typeof search.search>[1]) =>
    search
      .search(q, options)
      .map(({ id, score }) => ({ entry: entries.get(id as number)!, score }))
      // Blocks may be gone or decoded again, leaving no event of the name.
      .filter(({ entry }) => entry.kind !== 'event' || entry.count > 0)

  return {
    add(what: Omit<SuggestEntry, 'id' | 'count'>): SuggestEntry {
      const entry = { ...what, id: ++last, count: 0 }
      entries.set(entry.id, entry)
      search.add(entry)
      return entry
    },
    remove(entry: SuggestEntry) {
      search.remove(entry)
      entries.delete(entry.id)
    },
    /** Names that begin with all typed words or, where none does, similar names. */
    find(q: string, size: number): NameSuggestion[] {
      const begun = found(q, { prefix: true })
      return (begun.length > 0 ? begun : found(q, { prefix: true, fuzzy: editsOf }))
        .slice(0, size)
        .map(({ entry, score }) => show(entry, score))
    },
  }
}

/** More typed words are ignored. */
const MAX_TYPED_WORDS = 5

/** A transposition counts as two edits. A similar address is another account, so none apply. */
const editsOf = (term: string): number => (term.length < 3 || /^0x/.test(term) ? 0 : term.length < 4 ? 1 : 2)

/** Splits `blockNumber.num` into `blockNumber`, `block`, `Number`, `num`; symbols stay whole. */
const entryWords = ({ text, kind, name = '' }: Pick<SuggestEntry, 'text' | 'kind' | 'name'>): string[] => {
  const pieces = text.split(/[^\p{L}\p{N}]+/u).filter(piece => piece !== '')
  const words = kind === 'token' ? [] : pieces.flatMap(piece => piece.match(WORD_PARTS) ?? [])
  const all = [...new Set([...pieces, ...words, ...(name.match(/[\p{L}\p{N}]+/gu) ?? [])])]
  return all.length > 1 ? all.filter(word => word !== text) : all
}

const WORD_PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[^\p{Lu}\p{Ll}]+/gu

const fieldPaths = (): Map<string, string> => {
  const paths = new Map<string, string>()
  // Integer fields are other spellings of fields that are suggested already.
  for (const kind of KINDS)
    for (const [path, { compare }] of queryPaths(kind))
      if (compare !== 'integer') paths.set(path, paths.has(path) ? `${paths.get(path)},${kind}` : kind)
  return paths
}

const storedChainId = (reader: StoreReader): number | undefined =>
  reader.prepare("SELECT value FROM meta WHERE key = 'chain_id'").pluck().get() as number | undefined

/** Counts logs per name, segment by segment, since segments change only by revision. */
const createOccurrences = (reader: StoreReader, entryOf: (signature: number) => SuggestEntry | undefined) => {
  const counted = new Map<string, [signature: number, n: number][]>()
  const keyOf = ({ id, revised }: Segment): string => `${id}/${revised}`
  const add = (counts: readonly [number, number][], sign: 1 | -1) => {
    for (const [signature, n] of counts) {
      const entry = entryOf(signature)
      if (entry) entry.count += sign * n
    }
  }
  return {
    /** Segments that are new or have changed. */
    catchUp(): Segment[] {
      const segments = reader.segments()
      const left = new Set(segments.map(keyOf))
      for (const [key, counts] of counted) {
        if (left.has(key)) continue
        add(counts, -1)
        counted.delete(key)
      }
      const added = segments.filter(segment => !counted.has(keyOf(segment)))
      for (const segment of added) {
        const counts = reader
          .termsBetween(segment.id, ...logTerms(0))
          .map(({ term, n }): [number, number] => [signatureOfLogField(fieldOfTerm(term)), n])
        counted.set(keyOf(segment), counts)
        add(counts, 1)
      }
      return added
    },
  }
}

const METHOD = fieldId('tx', 'method')

/** Calls `found` with names that transactions call; the dictionary has others as well. */
const createMethods = (reader: StoreReader, found: (name: string) => void) => {
  let known = 0
  let others: string[] = []
  return (added: readonly Segment[]) => {
    const names = reader.names()
    const fresh = names.slice(known)
    known = names.length
    const isCalled = (name: string, segments: readonly Segment[]) => {
      const term = termOf(reader.nameId(name)!, METHOD)
      return segments.some(({ id }) => reader.termsBetween(id, term, term).length > 0)
    }
    const test = (name: string, segments: readonly Segment[]) => {
      const called = isCalled(name, segments)
      if (called) found(name)
      return !called
    }
    others = [...others.filter(name => test(name, added)), ...fresh.filter(name => test(name, reader.segments()))]
  }
}
