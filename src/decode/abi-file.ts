import { messageOf, refuse } from '../lib/errors.ts'
import {
  canonicalSignature,
  canonicalType,
  type FunctionAbi,
  formatSignature,
  IDENTIFIER,
  MAX_DEPTH,
  maxIndexed,
  parseSignature,
} from './signature.ts'
import type { AbiParam, EventAbi } from './types.ts'

export interface Abi {
  events: EventAbi[]
  functions: FunctionAbi[]
}

/**
 * Reads what compilers and people write: a JSON ABI, a Foundry or Hardhat artifact, an array of signatures, or a mixture. Each
 * declaration is returned once. `place` is the file's name for messages.
 */
export const readAbi = (text: string, place: string): Abi => {
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw refuse('bad_abi', `${place}: not JSON (${messageOf(cause)}); ${REMEDY}`, cause)
  }
  const isArtifact = isRecord(json) && Array.isArray(json.abi)
  const entries = isArtifact ? (json as { abi: unknown[] }).abi : json
  if (!Array.isArray(entries)) throw refuse('bad_abi', `${place}: no ABI in it; ${REMEDY}`)

  const events = new Map<string, EventAbi>()
  const functions = new Map<string, FunctionAbi>()
  for (const [i, entry] of entries.entries()) {
    const path = `${isArtifact ? 'abi' : ''}[${i}]`
    const read = typeof entry === 'string' ? readText(entry, place, path) : readEntry(entry, place, path)
    if (read === null) continue
    if ('outputs' in read) functions.set(canonicalSignature(read), functions.get(canonicalSignature(read)) ?? read)
    else events.set(formatSignature(read), read)
  }
  return { events: [...events.values()], functions: [...functions.values()] }
}

const REMEDY =
  'give a JSON ABI, a Foundry or Hardhat artifact, or an array of signatures ' +
  'such as ["event Transfer(address indexed from, address indexed to, uint256 value)"]'

const fault = (place: string, path: string, what: string) => refuse('bad_abi', `${place}: ${path} ${what}`)

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Entries that have no name: nothing on the chain is looked up by them. */
const NAMELESS = new Set(['constructor', 'fallback', 'receive'])

const readText = (text: string, place: string, path: string): EventAbi | FunctionAbi | null => {
  const word = /^\s*([\w$]*)/.exec(text)![1]!
  if (NAMELESS.has(word) || word === 'error' || word === 'struct') return null
  try {
    return word === 'function' ? parseSignature(text, 'function') : parseSignature(text)
  } catch (cause) {
    throw refuse('bad_abi', `${place}: ${path}: ${messageOf(cause)}`, cause)
  }
}

const readEntry = (entry: unknown, place: string, path: string): EventAbi | FunctionAbi | null => {
  if (!isRecord(entry)) throw fault(place, path, `is ${shown(entry)}, not an entry of an ABI; ${REMEDY}`)
  const kind = entry.type ?? 'function'
  if (kind === 'error' || NAMELESS.has(kind as string)) return null
  if (kind !== 'event' && kind !== 'function')
    throw fault(place, `${path}.type`, `is ${shown(kind)}, not "event", "function", "error" or "constructor"`)
  const { name } = entry
  if (typeof name !== 'string' || !IDENTIFIER.test(name))
    throw fault(
      place,
      `${path}.name`,
      `is ${shown(name)}, not the name of ${kind === 'event' ? 'an event' : 'a function'}`,
    )

  if (kind === 'function') {
    if (isForLibrary(entry.inputs) || isForLibrary(entry.outputs)) return null
    return {
      name,
      inputs: readParams(entry.inputs, place, `${path}.inputs`, 'value', 1),
      outputs: readParams(entry.outputs ?? [], place, `${path}.outputs`, 'value', 1),
    }
  }
  const anonymous = entry.anonymous ?? false
  if (typeof anonymous !== 'boolean')
    throw fault(place, `${path}.anonymous`, `is ${shown(anonymous)}, not true or false`)
  const inputs = readParams(entry.inputs, place, `${path}.inputs`, 'event', 1)
  const indexed = inputs.filter(input => input.indexed).length
  if (indexed > maxIndexed(anonymous))
    throw fault(
      place,
      `${path}.inputs`,
      `has ${indexed} indexed arguments where an event has at most ${maxIndexed(anonymous)}`,
    )
  return anonymous ? { name, inputs, anonymous } : { name, inputs }
}

/**
 * Compilers list a library's functions with the types of the language (`Lib.Set storage`, `Lib.Kind`). Nobody calls them by the
 * ABI, so they are passed over.
 */
const isForLibrary = (params: unknown): boolean =>
  Array.isArray(params) &&
  params.some(
    param =>
      isRecord(param) &&
      typeof param.type === 'string' &&
      (/ storage$/.test(param.type) ||
        (typeof param.internalType === 'string' &&
          /^(?:enum|struct|contract) /.test(param.internalType) &&
          canonicalType(param.type) === null)),
  )

const readParams = (params: unknown, place: string, path: string, of: 'event' | 'value', depth: number): AbiParam[] => {
  if (!Array.isArray(params)) throw fault(place, path, `is ${shown(params)}, not an array of arguments`)
  if (depth > MAX_DEPTH) throw fault(place, path, `is nested more than ${MAX_DEPTH} deep`)
  return params.map((param, i) => readParam(param, place, `${path}[${i}]`, of, depth))
}

const readParam = (param: unknown, place: string, path: string, of: 'event' | 'value', depth: number): AbiParam => {
  if (!isRecord(param))
    throw fault(place, path, `is ${shown(param)}, not an argument such as {"name": "to", "type": "address"}`)
  const { name = '', type: written, components, indexed = false } = param
  if (typeof name !== 'string' || (name !== '' && !IDENTIFIER.test(name)))
    throw fault(place, `${path}.name`, `is ${shown(name)}, not a name`)
  const type = typeof written === 'string' ? canonicalType(written) : null
  if (type === null)
    throw fault(place, `${path}.type`, `is ${shown(written)}, not a type of the ABI such as "uint256" or "tuple[]"`)
  if (typeof indexed !== 'boolean') throw fault(place, `${path}.indexed`, `is ${shown(indexed)}, not true or false`)
  const flag = of === 'event' && indexed ? { indexed } : {}
  if (!type.startsWith('tuple')) return { name, type, ...flag }
  const parts = readParams(components, place, `${path}.components`, 'value', depth + 1)
  if (parts.length === 0) throw fault(place, `${path}.components`, 'is empty, and a tuple has at least one')
  return { name, type, components: parts, ...flag }
}

const shown = (value: unknown): string => {
  if (value === undefined) return 'missing'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
