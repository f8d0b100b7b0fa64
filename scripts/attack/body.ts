import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { Random } from '../lib/random.ts'
import { chance, pick } from './attack.ts'
import { isRaw } from './json.ts'
import { INHERITED, misspelt, mutate, type Oddity } from './mutate.ts'
import { elsewhere } from './paths.ts'

/** A request as it goes over the wire. */
export interface Sent {
  method: string
  network: string
  entities: string
  /** Behind `/es/`, with what parameters the URL has; `{entities}/search/` where it is absent. */
  path?: string
  headers: Record<string, string>
  body: Buffer
  /** What the body says, undefined where it can be read in more than one way. */
  text: string | undefined
  /** Why the answer must not be a 200, whatever else is said. */
  mustRefuse: string | undefined
  changes: string[]
}

export interface Seed {
  network: string
  entities: string
  body: unknown
  /** The name under which a value is to be changed, if any: options are rare among all places of all bodies. */
  name?: string
}

/** A hostile form of a request: a few places of its body changed, then now and then its text, and its way over the wire. */
export const mutateRequest = (seed: Seed, random: Random, odd: Oddity): Sent => {
  const changes: string[] = []
  let value = seed.body
  const times = pick(random, [0, 1, 1, 1, 1, 2, 2, 3, 8])
  for (let i = 0; i < times; i++) {
    const mutation = mutate(value, random, odd, i === 0 ? seed.name : undefined)
    if (stringify(mutation.value).length > LARGEST) break
    value = mutation.value
    changes.push(`${mutation.how} ${mutation.path}`)
  }
  let text = stringify(value)
  let mustRefuse: string | undefined
  if (chance(random, 0.04)) {
    const doubled = doubleName(text, random)
    if (doubled !== undefined) {
      text = doubled
      mustRefuse = 'a name occurs twice'
      changes.push('double a name')
    }
  }
  if (chance(random, 0.08)) {
    const how = pick(random, Object.keys(TEXT_CHANGES))
    // Which may heal it.
    mustRefuse = undefined
    text = TEXT_CHANGES[how]!(text, random)
    changes.push(how)
  }
  const sent: Sent = { ...plainRequest(seed, text, changes), mustRefuse }
  if (chance(random, 0.05)) sent.method = 'GET'
  if (chance(random, 0.25)) {
    elsewhere(sent, random)
    changes.push('elsewhere')
  }
  if (chance(random, 0.1)) {
    const how = pick(random, Object.keys(WIRE_CHANGES))
    WIRE_CHANGES[how]!(sent, random)
    changes.push(how)
  }
  return sent
}

/** A request whose one odd thing is a name that objects inherit, in place of the value that the seed names. */
export const inheritingRequest = (seed: Seed, random: Random, name: string): Sent => {
  const { value, path } = mutate(seed.body, random, () => name, seed.name)
  return plainRequest(seed, stringify(value), [`${name} at ${path}`])
}

export const plainRequest = ({ network, entities }: Seed, text: string, changes: string[] = []): Sent => ({
  method: 'POST',
  network,
  entities,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(text),
  text,
  mustRefuse: undefined,
  changes,
})

const LARGEST = 2_000_000

/** JSON with numbers as they were written. */
export const stringify = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isRaw(inner) ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(inner.raw) : inner,
  ) ?? ''

const doubleName = (text: string, random: Random): string | undefined => {
  const names = [...text.matchAll(/\{("(?:[^"\\]|\\.)*"):/g)]
  if (names.length === 0) return undefined
  const { index, 1: name } = pick(random, names)
  // What only looks like an object stands inside of a text.
  const before = text.slice(0, index).replace(/\\./g, '')
  if ((before.split('"').length - 1) % 2 === 1) return undefined
  return `${text.slice(0, index + 1)}${name}:${pick(random, ['1', '{}', '[]', '"x"', 'null'])},${text.slice(index + 1)}`
}

const TEXT_CHANGES: Record<string, (text: string, random: Random) => string> = {
  'cut it off': (text, random) => text.slice(0, random.below(text.length + 1)),
  'misspell it': (text, random) => misspelt(random, text),
  'drop a character': (text, random) => {
    const at = random.below(text.length + 1)
    return text.slice(0, at) + text.slice(at + 1)
  },
  'more behind it': (text, random) => text + pick(random, [' ', '\n\n', '}', ',', 'x', '\u0000', text, '//', '[]']),
  'single quotes': text => text.replaceAll('"', "'"),
  'a comment': (text, random) => pick(random, ['/* */', '// \n', '#\n']) + text,
  'an odd number': (text, random) =>
    text.replace(
      /:\s*-?\d+/,
      () => `:${pick(random, ['01', '.5', '5.', '+1', '0x1', 'NaN', '1e', '-', '--1', '1 2'])}`,
    ),
  'white space': (text, random) => pick(random, [' ', '\t\r\n', '\u00a0', '\u2028', '\ufeff']) + text,
  'escaped names': text =>
    text.replace(/"([a-z])/g, (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`),
  'far too deep': (text, random) => {
    const levels = pick(random, [1_000, 10_000, 500_000])
    const [open, close] = pick(random, [
      ['[', ']'],
      ['{"bool":{"filter":', '}}'],
    ])
    return open!.repeat(levels) + text + close!.repeat(levels)
  },
  'a raw control character': text => text.replace('":', '\u0001":'),
  'a surrogate escape': text => text.replace(/"(\w)/, '"\\ud800$1'),
}

const WIRE_CHANGES: Record<string, (sent: Sent, random: Random) => void> = {
  'another type': (sent, random) => {
    sent.headers['content-type'] = pick(random, TYPES)
    if (/charset=(?!utf-8)/i.test(sent.headers['content-type'])) sent.text = undefined
  },
  compressed: (sent, random) => {
    const [name, pack] = pick(random, PACKERS)
    sent.headers['content-encoding'] = name
    sent.body = pack(sent.body)
  },
  'compressed and broken': (sent, random) => {
    const [name, pack] = pick(random, PACKERS)
    sent.headers['content-encoding'] = name
    const whole = pack(sent.body)
    sent.body = chance(random, 0.5) ? whole.subarray(0, random.below(whole.length)) : flip(whole, random)
    sent.text = undefined
    // What is cut off to nothing is a request without a body.
    if (sent.body.length === 0) sent.mustRefuse = undefined
  },
  'an encoding that is none': (sent, random) => {
    sent.headers['content-encoding'] = pick(random, [...INHERITED, 'gzip, gzip', 'rot13', 'GZIP;q=1', '*'])
    sent.mustRefuse = sent.body.length > 0 ? 'there is no such encoding' : undefined
  },
  'another encoding of characters': (sent, random) => {
    const text = sent.body.toString()
    sent.body = pick(random, [
      Buffer.from(text, 'utf16le'),
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      Buffer.from([0xff]),
    ])
    sent.text = undefined
  },
  'flipped bits': (sent, random) => {
    sent.body = flip(sent.body, random)
    sent.text = undefined
  },
  'other entities': (sent, random) => {
    sent.entities = pick(random, ENTITIES)
  },
}

const TYPES = [
  'text/plain',
  'application/x-ndjson',
  'application/json; charset=utf-16',
  'application/json; charset=utf-8',
  'application/vnd.elasticsearch+json; compatible-with=8',
  'application/cbor',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'a',
  'application/json, text/html',
  ';;;',
]

const PACKERS: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
]

const ENTITIES = [
  'block',
  'tx,log',
  'event,block,tx',
  'block,tx,log,event,trace,call,contract,token',
  'contract',
  'call',
  'trace',
  'token',
  'tx,tx',
  ',',
  'tx,',
  '*',
  '_all',
  'TX',
  '%2e%2e',
  '%',
  '%00',
  ...INHERITED,
]

const flip = (bytes: Buffer, random: Random): Buffer => {
  const flipped = Buffer.from(bytes)
  for (let i = random.below(4); i >= 0 && flipped.length > 0; i--)
    flipped[random.below(flipped.length)]! ^= 1 << random.below(8)
  return flipped
}
