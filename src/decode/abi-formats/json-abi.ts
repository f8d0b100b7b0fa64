import { isRecord } from '../../lib/arrays.ts'
import { canonicalType, IDENTIFIER, MAX_DEPTH, maxIndexed } from '../signature.ts'
import type { AbiParam } from '../types.ts'
import { type Abi, type AbiFormat, type Collector, createCollector, fault, showFaulty } from './format.ts'
import { readDeclaration, readStructs, type Structs } from './human-readable.ts'

/** Output of compilers, or signatures in an array as ethers and viem take them, or both. */
export const jsonAbi: AbiFormat = {
  is: ({ json }) => Array.isArray(json),
  read: ({ json }, place) => readEntries(json as unknown[], place, ''),
}

export const readEntries = (entries: readonly unknown[], place: string, path: string): Abi => {
  const collector = createCollector()
  const structs: Structs = readStructs(
    entries.flatMap((entry, i) => (typeof entry === 'string' ? [{ text: entry, place, at: `${path}[${i}]` }] : [])),
  )
  for (const [i, entry] of entries.entries()) {
    const at = `${path}[${i}]`
    if (typeof entry === 'string') readDeclaration({ text: entry, place, at }, structs, collector, 'event')
    else if (!isRecord(entry)) throw fault(place, at, `is ${showFaulty(entry)}, not an entry of an ABI or a signature`)
    else readAbiEntry(entry, place, at, collector)
  }
  return collector.abi(1)
}

/** Entries without a name, which never decode data of the chain. */
const UNNAMED_ENTRIES = new Set<unknown>(['constructor', 'fallback', 'receive'])

const readAbiEntry = (
  entry: Record<string, unknown>,
  place: string,
  path: string,
  { addEvent, addFunction, addError }: Collector,
) => {
  const kind = entry.type ?? 'function'
  if (UNNAMED_ENTRIES.has(kind)) return
  if (kind !== 'event' && kind !== 'function' && kind !== 'error')
    throw fault(place, `${path}.type`, `is ${showFaulty(kind)}, not "event", "function", "error" or "constructor"`)
  const { name } = entry
  if (typeof name !== 'string' || !IDENTIFIER.test(name))
    throw fault(
      place,
      `${path}.name`,
      `is ${showFaulty(name)}, not the name of ${kind === 'function' ? 'a function' : `an ${kind}`}`,
    )

  if (kind === 'function') {
    if (isForLibrary(entry.inputs) || isForLibrary(entry.outputs)) return
    addFunction({
      name,
      inputs: readParams(entry.inputs, place, `${path}.inputs`, 'value', 1),
      outputs: readParams(entry.outputs ?? [], place, `${path}.outputs`, 'value', 1),
    })
    return
  }
  if (kind === 'error') {
    if (!isForLibrary(entry.inputs))
      addError({ name, inputs: readParams(entry.inputs, place, `${path}.inputs`, 'value', 1) })
    return
  }
  const anonymous = entry.anonymous ?? false
  if (typeof anonymous !== 'boolean')
    throw fault(place, `${path}.anonymous`, `is ${showFaulty(anonymous)}, not true or false`)
  const inputs = readParams(entry.inputs, place, `${path}.inputs`, 'event', 1)
  const indexed = inputs.filter(input => input.indexed).length
  if (indexed > maxIndexed(anonymous))
    throw fault(
      place,
      `${path}.inputs`,
      `has ${indexed} indexed arguments where an event has at most ${maxIndexed(anonymous)}`,
    )
  addEvent(anonymous ? { name, inputs, anonymous } : { name, inputs })
}

/**
 * Compilers list a library's functions with types of the language (`Lib.Set storage`, `Lib.Kind`).
 * Nobody calls them by the ABI, so they are skipped.
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
  if (!Array.isArray(params)) throw fault(place, path, `is ${showFaulty(params)}, not an array of arguments`)
  if (depth > MAX_DEPTH) throw fault(place, path, `is nested more than ${MAX_DEPTH} deep`)
  return params.map((param, i) => readParam(param, place, `${path}[${i}]`, of, depth))
}

const readParam = (param: unknown, place: string, path: string, of: 'event' | 'value', depth: number): AbiParam => {
  if (!isRecord(param))
    throw fault(place, path, `is ${showFaulty(param)}, not an argument such as {"name": "to", "type": "address"}`)
  const { name = '', type: written, components, indexed = false } = param
  if (typeof name !== 'string' || (name !== '' && !IDENTIFIER.test(name)))
    throw fault(place, `${path}.name`, `is ${showFaulty(name)}, not a name`)
  const type = typeof written === 'string' ? canonicalType(written) : null
  if (type === null)
    throw fault(
      place,
      `${path}.type`,
      `is ${showFaulty(written)}, not a type of the ABI such as "uint256" or "tuple[]"`,
    )
  if (typeof indexed !== 'boolean')
    throw fault(place, `${path}.indexed`, `is ${showFaulty(indexed)}, not true or false`)
  const flag = of === 'event' && indexed ? { indexed } : {}
  if (!type.startsWith('tuple')) return { name, type, ...flag }
  const parts = readParams(components, place, `${path}.components`, 'value', depth + 1)
  if (parts.length === 0) throw fault(place, `${path}.components`, 'is empty, and a tuple has at least one')
  return { name, type, components: parts, ...flag }
}

/** Foundry (`out/`) and Hardhat (`artifacts/`) write this per contract; any object with `abi`. */
export const artifact: AbiFormat = {
  is: ({ json }) => isRecord(json) && 'abi' in json,
  read({ json }, place) {
    const { abi } = json as { abi: unknown }
    if (!Array.isArray(abi)) throw fault(place, 'abi', `is ${showFaulty(abi)}, not an array of entries`)
    return readEntries(abi, place, 'abi')
  },
}

/** Compiler metadata, Sourcify's `metadata.json`: `{output: {abi}, settings, sources, …}`. */
export const metadata: AbiFormat = {
  is: ({ json }) => isRecord(json) && isRecord(json.output),
  read({ json }, place) {
    const { output, settings } = json as { output: { abi?: unknown }; settings?: unknown }
    if (!Array.isArray(output.abi))
      throw fault(place, 'output.abi', `is ${showFaulty(output.abi)}, not an array of entries`)
    const name = compilationTargetOf(settings)
    const abi = readEntries(output.abi, place, 'output.abi')
    return name === undefined ? abi : { name, ...abi }
  },
}

const compilationTargetOf = (settings: unknown): string | undefined => {
  const target = isRecord(settings) && isRecord(settings.compilationTarget) ? settings.compilationTarget : {}
  const [name] = Object.values(target)
  return typeof name === 'string' && /^[\w$]+$/.test(name) ? name : undefined
}
