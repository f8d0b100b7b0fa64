import { crc32, deflateRawSync } from 'node:zlib'
import type { Growing, Prepared } from './largest.ts'
import type { Request } from './places.ts'

/** A text, or a value of JSON, that grows by parts: as long as it may be, of the shapes that take longest to read. */
export interface Fill {
  name: string
  /** Whether it is text, for any place, or JSON that only fits a value of a body. */
  is: 'text' | 'json'
  /** Seldom tried: it takes long in few places. */
  isOdd?: boolean
  /** Bytes of one part, in a URL. */
  size(own: Own): number
  make(parts: number, own: Own): string
}

/** What stands in the place in a request that works: as text, and as JSON. */
export interface Own {
  text: string
  json: unknown
}

const REPEATED: Record<string, string> = {
  'one long word': 'a',
  words: 'a ',
  names: 'a,',
  numbers: '1,',
  patterns: 'x*,',
  'one pattern of many parts': '*a',
  'any steps': `${'**.'.repeat(400)}a,`,
  parentheses: '(',
  joins: "{{#join delimiter=''}}e{{/join delimiter=''}}",
}

/** The same, where it means something in few languages only. */
const ODD: Record<string, string> = {
  steps: 'a.',
  'fuzzy words': 'a~2 OR ',
  ranges: 'a:[b TO c] ',
  lists: '[',
  alternatives: '(a|b)*',
  quotes: '"',
  emoji: '😀',
  sections: '{{#e}}{{#toJson}}e{{/toJson}}{{/e}}',
}

const repeated = ([name, part]: [string, string]): Fill => ({
  ...{ name, is: 'text', size: () => inUrl(part).length },
  make: parts => part.repeat(parts),
})

const texts: Fill[] = [
  ...Object.entries(REPEATED).map(repeated),
  ...Object.entries(ODD).map((one): Fill => ({ ...repeated(one), isOdd: true })),
  {
    ...{ name: 'what works, again and again', is: 'text', size: ({ text }) => inUrl(text).length + 1 },
    make: (parts, { text }) => `${text},`.repeat(parts).slice(0, -1),
  },
  {
    ...{ name: 'names of their own', is: 'text', size: () => DIGITS + 2 },
    make: parts => numbered(parts, i => `n${i},`),
  },
  {
    ...{ name: 'patterns of their own', is: 'text', size: () => DIGITS + 4 },
    make: parts => numbered(parts, i => `*${i}*,`),
  },
]

const DIGITS = 6

const values: Fill[] = [
  {
    ...{ name: 'a list of what works', is: 'json', size: ({ json }) => JSON.stringify(one(json)).length + 1 },
    make: (parts, { json }) => listOf(parts, JSON.stringify(one(json))),
  },
  { ...{ name: 'a list of patterns', is: 'json', size: () => 5 }, make: parts => listOf(parts, '"x*"') },
  {
    ...{ name: 'a list of long patterns', is: 'json', size: () => 20_000 },
    make: parts => listOf(parts, `"${'*a'.repeat(10_000)}"`),
  },
  {
    ...{ name: 'a list of any steps', is: 'json', isOdd: true, size: () => 1_200 },
    make: parts => listOf(parts, `"${'**.'.repeat(400)}a"`),
  },
  {
    ...{ name: 'a list of texts of their own', is: 'json', size: () => DIGITS + 4 },
    make: parts => `[${numbered(parts, i => `"n${i}",`).slice(0, -1)}]`,
  },
  { ...{ name: 'a list of numbers', is: 'json', isOdd: true, size: () => 2 }, make: parts => listOf(parts, '1') },
  {
    ...{ name: 'lists in lists', is: 'json', isOdd: true, size: () => 2 },
    make: parts => `${'['.repeat(parts)}${']'.repeat(parts)}`,
  },
  {
    ...{ name: 'objects in objects', is: 'json', isOdd: true, size: () => 6 },
    make: parts => `${'{"a":'.repeat(parts)}1${'}'.repeat(parts)}`,
  },
  {
    ...{ name: 'many names', is: 'json', size: ({ json }) => JSON.stringify(member(json)).length + DIGITS + 5 },
    make(parts, { json }) {
      const value = JSON.stringify(member(json))
      return `{${numbered(parts, i => `"n${i}":${value},`).slice(0, -1)}}`
    },
  },
  {
    ...{ name: 'a long name', is: 'json', size: () => 1 },
    make: (parts, { json }) => `{"${'n'.repeat(parts)}":${JSON.stringify(member(json))}}`,
  },
  { ...{ name: 'a long number', is: 'json', isOdd: true, size: () => 1 }, make: parts => '1'.repeat(parts) },
]

export const FILLS: readonly Fill[] = [...texts, ...values]

const numbered = (parts: number, part: (i: string) => string): string =>
  Array.from({ length: parts }, (_, i) => part(String(i).padStart(DIGITS, '0'))).join('')
const listOf = (parts: number, part: string): string => `[${`${part},`.repeat(parts).slice(0, -1)}]`

const one = (json: unknown): unknown => (Array.isArray(json) ? (json[0] ?? '') : (json ?? ''))
const member = (json: unknown): unknown =>
  typeof json === 'object' && json !== null ? (Object.values(json)[0] ?? '') : (json ?? '')

/** As it stands in a URL: what need not be written as bytes is not. */
export const inUrl = (text: string): string =>
  encodeURIComponent(text).replace(/%(?:2C|3A|5B|5D|22|7C)/g, decodeURIComponent)

/** What is dear by two places at once, or by what only a forger writes. */
export const combined = ({ rules, id }: Prepared): Growing[] => {
  const es = '/ethereum/demo/local/es'
  const json = (method: string, path: string, body?: unknown): Request => ({
    ...{ method, path: path.startsWith('/alerting') ? path : `${es}${path}` },
    ...{ headers: { 'content-type': 'application/json' }, body: body === undefined ? undefined : JSON.stringify(body) },
  })
  const forged = (parts: number, kind: 'scroll' | 'pit') => Array.from({ length: parts }, (_, i) => forge(kind, i))
  const render = (source: string, e: unknown) => ({ source, params: { e } })
  return [
    {
      ...{ name: 'forged scroll ids', size: 2_500, parts: 1_000 },
      make: parts => json('DELETE', '/_search/scroll', { scroll_id: forged(parts, 'scroll') }),
    },
    {
      ...{ name: 'forged points in time', size: 2_500, parts: 1_000 },
      make: parts => json('DELETE', '/_search/point_in_time', { pit_id: forged(parts, 'pit') }),
    },
    {
      ...{ name: 'searches that follow by forged tokens', size: 60_000, parts: 250 },
      make: parts => ({
        ...json('POST', '/_msearch'),
        headers: { 'content-type': 'application/x-ndjson' },
        body: `{"index":"tx"}\n${JSON.stringify({ resume: forgeResume(), size: 1 })}\n`.repeat(parts),
      }),
    },
    {
      ...{ name: 'series of one rule, again and again', size: 2, parts: 12_000 },
      make: parts => json('GET', `/alerting/series?buckets=500&rules=${`${rules},`.repeat(parts).slice(0, -1)}`),
    },
    ...["{{#join delimiter=''}}e{{/join delimiter=''}}", '{{#toJson}}e{{/toJson}}', '{{#e}}.{{/e}}'].map(
      (tag): Growing => ({
        ...{ name: `templates of ${tag} over a long list`, size: tag.length, parts: 1_500 },
        make: parts => json('POST', '/_render/template', render(tag.repeat(parts), new Array(190_000).fill(''))),
      }),
    ),
    {
      ...{ name: 'long names that many buckets repeat', size: 1, parts: 2_500_000 },
      make: parts =>
        json('POST', '/tx/_search', {
          ...{ size: 0 },
          aggs: {
            h: {
              ...{ histogram: { field: 'blockNumber.num', interval: 1 } },
              aggs: { ['n'.repeat(parts)]: { value_count: { field: 'timestamp' } } },
            },
          },
        }),
    },
    {
      ...{ name: 'long names of queries that many hits repeat', size: 1, parts: 2_500_000 },
      make: parts => json('POST', '/tx/_search', { size: 1_000, query: { match_all: { _name: 'n'.repeat(parts) } } }),
    },
    ...(
      [
        ['a list of patterns of fields', 'x*,', it => json('POST', '/_field_caps', { fields: it })],
        ['one pattern of fields', '*a', it => json('POST', '/_field_caps', { fields: it })],
        ['patterns of indices', 'x*,', it => json('POST', '/_mget', { docs: [{ _index: it, _id: 'a' }] })],
        ['words to analyse', 'a ', it => json('POST', '/_analyze', { text: it })],
      ] satisfies [string, string, (text: string) => Request][]
    ).map(
      ([name, part, make]): Growing => ({
        ...{ name, size: part.length, parts: Math.floor(15e6 / part.length) },
        make: parts => make(part.repeat(parts)),
      }),
    ),
    {
      ...{ name: 'searches whose answers are filtered by any steps', size: 1_201, parts: 20 },
      make: parts => ({
        ...json('POST', `/_msearch?filter_path=${`${'**.'.repeat(400)}a,`.repeat(parts)}`),
        headers: { 'content-type': 'application/x-ndjson' },
        body: '{"index":"tx"}\n{"size":10}\n'.repeat(20),
      }),
    },
    {
      ...{ name: 'the same document, again and again', size: 70, parts: 100_000 },
      make: parts => json('POST', '/tx/_mget', { ids: new Array(parts).fill(id(`${es}/{index}/_doc/{id}`)) }),
    },
  ]
}

/** An id as the server makes them, but for its signature; what it says inflates to a megabyte. */
const forge = (kind: 'scroll' | 'pit', number: number): string => {
  const head = Buffer.from(
    JSON.stringify({ kind, key: `${number}`.padEnd(400, 'a'), network: 'ethereum/demo/local', until: 4e12 }),
  )
  const state = { keepAliveMs: 60_000, seen: { runs: [], marks: [] }, entities: 'tx', body: 'a'.repeat(1_000_000) }
  // A version, a signature, the length of what is not deflated.
  const before = Buffer.alloc(19, 2)
  before.writeUInt16LE(head.length, 17)
  return Buffer.concat([before, head, deflateRawSync(JSON.stringify(state))]).toString('base64url')
}

/** A token of a reader is not signed: one that says as much as it may. */
const forgeResume = (): string => {
  const marks = Array.from({ length: 800 }, (_, i) => [i, `0x${'ab'.repeat(32)}`])
  const state = { kind: 'resume', index: 'ethereum-demo-local', place: { kind: 'tx', position: 1e15 }, marks }
  const body = deflateRawSync(JSON.stringify(state))
  const before = Buffer.alloc(5, 1)
  before.writeUInt32LE(crc32(body), 1)
  return Buffer.concat([before, body]).toString('base64url')
}
