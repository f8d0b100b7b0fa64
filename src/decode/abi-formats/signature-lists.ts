import { isRecord } from '../../lib/arrays.ts'
import { keccakHex } from '../../lib/keccak.ts'
import { STANDINGS } from '../functions.ts'
import { canonicalSignature, parseSignature } from '../signature.ts'
import { type Abi, type AbiFormat, type Collector, createCollector, fault, showFaulty } from './format.ts'

/**
 * Hash and signature per line: OpenChain's export (`0xa9059cbb,transfer(address,uint256)`), CSV
 * exports of 4byte.directory with any other columns, and the output of `solc --hashes`
 * (`a9059cbb: transfer(address,uint256)`).
 */
export const signatureList: AbiFormat = {
  is({ text }) {
    if (text === undefined) return false
    const lines = text.split('\n', OUTLINE).filter(line => !isEmpty(line))
    return lines.some(line => hashIn(line) !== undefined && signatureIn(line) !== undefined)
  },
  read: ({ text }, place) => readListedSignatures(listedLines(text!, place), place),
}

const OUTLINE = 50

function* listedLines(text: string, place: string): Generator<ListedSignature> {
  let first = true
  for (const [i, line] of text.split('\n').entries()) {
    if (isEmpty(line)) continue
    const hash = hashIn(line)
    const signature = signatureIn(line)
    const isHeader = first && hash === undefined && HEADER.test(line)
    first = false
    if (isHeader) continue
    const at = `line ${i + 1}`
    if (hash === undefined || signature === undefined)
      throw fault(
        place,
        at,
        `is ${showFaulty(line.trim())}, not a hash and a signature such as 0xa9059cbb,transfer(address,uint256); correct it or remove it`,
      )
    const raw = line.replace(hash, '').replace(/^[\s"',;:]+|[\s"',;:]+$/g, '')
    yield { hash: hash.startsWith('0x') ? hash : `0x${hash}`, text: signature, at, raw }
  }
}

const isEmpty = (line: string): boolean => /^\s*(?:#.*|\/\/.*)?$/.test(line)

/** `id,text_signature,hex_signature` */
const HEADER = /^[\w "']+(?:[,;\t][\w "']+)+\r?$/

/** Accepts a hash without `0x` only at the beginning: elsewhere eight digits may be anything. */
const hashIn = (line: string): string | undefined =>
  /(?<!\w)0x(?:[0-9a-f]{64}|[0-9a-f]{8})(?!\w)/i.exec(line)?.[0] ??
  /^\s*"?([0-9a-f]{64}|[0-9a-f]{8})(?!\w)/i.exec(line)?.[1]

/** From a name to the bracket that closes its arguments; later columns may have brackets too. */
const signatureIn = (line: string): string | undefined => {
  const start = /(?<![\w$])[A-Za-z_$][\w$]*\(/.exec(line)
  if (!start) return undefined
  let open = 0
  for (let at = start.index + start[0].length - 1; at < line.length; at++) {
    if (line[at] === '(') open++
    else if (line[at] === ')' && --open === 0) return line.slice(start.index, at + 1)
  }
  return undefined
}

/** Anybody can put anything on a list, and many functions have the same selector. */
const PROBABILITY = STANDINGS['?']!
/** Signatures of one list: each indexing thread holds them in memory. */
const MAX_LISTED_SIGNATURES = 50_000
export interface ListedSignature {
  /** `0x` and 8 digits of a function, or 64 of an event. */
  hash: unknown
  text: unknown
  /** The place in the file: `line 3`, `results[2]`. */
  at: string
  /** The whole text of the entry, if longer. */
  raw?: string
}

const LISTED_HASH = /^0x(?:[0-9a-f]{8}|[0-9a-f]{64})$/i
const LIST_REMEDY = 'correct it or remove it'
/**
 * Lists have no names of arguments, and do not say which arguments of events are indexed. Each hash
 * must match its text: otherwise the list is damaged.
 */
export const readListedSignatures = (list: Iterable<ListedSignature>, place: string): Abi => {
  const collector = createCollector()
  for (const entry of list) {
    readListedSignature(entry, place, collector)
    if (collector.size > MAX_LISTED_SIGNATURES)
      throw fault(
        place,
        entry.at,
        `is beyond ${MAX_LISTED_SIGNATURES.toLocaleString('en')} signatures, which is the limit: keep those that your contracts use`,
      )
  }
  return collector.abi(PROBABILITY)
}

const readListedSignature = (
  { hash, text, at, raw }: ListedSignature,
  place: string,
  { addEvent, addFunction }: Collector,
) => {
  if (typeof hash !== 'string' || !LISTED_HASH.test(hash))
    throw fault(
      place,
      at,
      `: ${showFaulty(hash)} is not a hash of 0x and 8 digits (a function) or 64 (an event); ${LIST_REMEDY}`,
    )
  if (typeof text !== 'string')
    throw fault(
      place,
      at,
      `: ${showFaulty(text)} is not a signature such as "transfer(address,uint256)"; ${LIST_REMEDY}`,
    )
  const wanted = hash.toLowerCase()
  const hashOf = (signature: string): string => keccakHex(signature).slice(0, wanted.length)
  /** Correct but useless: a library's function has types of the language; no calldata has them. */
  const isRight = (): boolean => hashOf(text.trim()) === wanted || (raw !== undefined && hashOf(raw.trim()) === wanted)

  const declared = tryParseSignature(text, wanted.length === 10 ? 'function' : 'event')
  const actual = hashOf(declared ? canonicalSignature(declared.abi) : text.trim())
  if (actual !== wanted) {
    if (isRight()) return
    throw fault(place, at, `: ${wanted} is not the hash of ${showFaulty(text)}, which is ${actual}; ${LIST_REMEDY}`)
  }
  if (declared?.kind === 'event') addEvent(declared.abi)
  else if (declared) addFunction({ name: declared.abi.name, inputs: declared.abi.inputs })
}

const tryParseSignature = (text: string, kind: 'event' | 'function') => {
  try {
    return kind === 'event' ? { kind, abi: parseSignature(text) } : { kind, abi: parseSignature(text, 'function') }
  } catch {
    return undefined
  }
}

/** Answer of 4byte.directory: `{"results": [{"text_signature", "hex_signature"}]}` or its array. */
export const fourByte: AbiFormat = {
  is: ({ json }) =>
    (isRecord(json) && 'results' in json) || (Array.isArray(json) && isRecord(json[0]) && 'text_signature' in json[0]),
  read({ json }, place) {
    const results = isRecord(json) ? json.results : json
    if (!Array.isArray(results)) throw fault(place, 'results', `is ${showFaulty(results)}, not an array`)
    const path = isRecord(json) ? 'results' : ''
    return readListedSignatures(
      results.map((entry, i): ListedSignature => {
        const at = `${path}[${i}]`
        if (!isRecord(entry))
          throw fault(place, at, `is ${showFaulty(entry)}, not {"text_signature": "…", "hex_signature": "0x…"}`)
        return { hash: entry.hex_signature, text: entry.text_signature, at }
      }),
      place,
    )
  },
}

/**
 * Answer of OpenChain's look-up, and of Sourcify's signature database, its successor:
 * `{"ok": true, "result": {"function": {"0x…": [{"name", "filtered"}]}, "event": {…}}}`.
 */
export const openChain: AbiFormat = {
  is: ({ json }) => isRecord(json) && isRecord(json.result) && ('function' in json.result || 'event' in json.result),
  read({ json }, place) {
    const { result } = json as { result: Record<string, unknown> }
    return readListedSignatures(
      ['function', 'event'].flatMap(kind => openChainEntries(result[kind] ?? {}, place, `result.${kind}`)),
      place,
    )
  },
}

const openChainEntries = (byHash: unknown, place: string, path: string): ListedSignature[] => {
  if (!isRecord(byHash)) throw fault(place, path, `is ${showFaulty(byHash)}, not an object of hashes`)
  return Object.entries(byHash).flatMap(([hash, entries]) => {
    const at = `${path}[${showFaulty(hash)}]`
    // Unknown hashes are null.
    if (entries === null) return []
    if (!Array.isArray(entries)) throw fault(place, at, `is ${showFaulty(entries)}, not an array`)
    return entries.flatMap((entry, i): ListedSignature[] => {
      if (!isRecord(entry)) throw fault(place, `${at}[${i}]`, `is ${showFaulty(entry)}, not {"name": "…"}`)
      // Marked there as an invented signature that collides with the hash of a real one.
      if (entry.filtered === true) return []
      return [{ hash, text: entry.name, at: `${at}[${i}]` }]
    })
  })
}
