import type { AbiParam } from '../../src/decode/types.ts'
import { keccakHex } from '../../src/lib/keccak.ts'

/** What an ABI says of one event, function or error. */
export interface Declaration {
  kind: 'event' | 'function' | 'error'
  name: string
  inputs: AbiParam[]
}

const identifier = /^[A-Za-z_$][\w$]*$/
/** Names from before these were words of Solidity; behind a type they would be read as such. */
const modifiers = new Set<unknown>(['indexed', 'memory', 'calldata', 'storage', 'payable'])
const elementary =
  /^(address|bool|string|bytes|bytes([1-9]|[12]\d|3[0-2])|u?int(8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|168|176|184|192|200|208|216|224|232|240|248|256))$/

/**
 * Reads an ABI item, or gives nothing where it is none: anonymous events (no topic tells them), library functions with
 * storage pointers or type names of the source, names that are no identifiers.
 */
export function declarationOf(item: unknown): Declaration | undefined {
  if (!isObject(item) || !isKind(item.type)) return undefined
  if (typeof item.name !== 'string' || !identifier.test(item.name) || item.anonymous === true) return undefined
  const inputs = paramsOf(item.inputs)
  if (inputs === undefined) return undefined
  if (item.type !== 'event') for (const input of inputs) delete input.indexed
  else if (inputs.filter(input => input.indexed).length > 3) return undefined
  return { kind: item.type, name: item.name, inputs }
}

function paramsOf(list: unknown): AbiParam[] | undefined {
  if (!Array.isArray(list)) return undefined
  const params = list.map(paramOf)
  return params.includes(undefined) ? undefined : (params as AbiParam[])
}

function paramOf(item: unknown): AbiParam | undefined {
  if (!isObject(item) || typeof item.type !== 'string') return undefined
  const name = item.name == null || modifiers.has(item.name) ? '' : item.name
  if (typeof name !== 'string' || (name !== '' && !identifier.test(name))) return undefined
  const [, base, dimensions] = /^([a-z0-9]+)((?:\[\d*\])*)$/.exec(item.type) ?? []
  if (base === undefined || dimensions === undefined) return undefined
  const indexed = item.indexed === true ? { indexed: true } : {}
  if (base === 'tuple') {
    const components = paramsOf(item.components)
    if (components === undefined || components.length === 0) return undefined
    for (const component of components) delete component.indexed
    return { name, type: `tuple${dimensions}`, components, ...indexed }
  }
  const type = canonical(base)
  return elementary.test(type) ? { name, type: type + dimensions, ...indexed } : undefined
}

/** Short and old spellings; a function value is an address and a selector. */
function canonical(type: string): string {
  if (type === 'uint' || type === 'int') return `${type}256`
  if (type === 'byte') return 'bytes1'
  if (type === 'function') return 'bytes24'
  return type
}

/** `Transfer(address,address,uint256)`: what is hashed. */
export const hashedForm = ({ name, inputs }: Declaration): string => `${name}(${inputs.map(typeOf).join(',')})`

const typeOf = ({ type, components }: AbiParam): string =>
  components === undefined ? type : `(${components.map(typeOf).join(',')})${type.slice('tuple'.length)}`

/** Topic 0 of an event, the four-byte selector of a function or an error. */
export function hashOf(declaration: Declaration): string {
  const hash = keccakHex(hashedForm(declaration))
  return declaration.kind === 'event' ? hash : hash.slice(0, 10)
}

/** `Transfer(address indexed from, address indexed to, uint256 value)` */
export const format = ({ name, inputs }: Declaration): string => `${name}${formatParams(inputs)}`

const formatParams = (params: readonly AbiParam[]): string => `(${params.map(formatParam).join(', ')})`

const formatParam = ({ name, type, components, indexed }: AbiParam): string => {
  const spelt = components === undefined ? type : formatParams(components) + type.slice('tuple'.length)
  return [spelt, indexed ? 'indexed' : '', name].filter(word => word !== '').join(' ')
}

const isKind = (type: unknown): type is Declaration['kind'] =>
  type === 'event' || type === 'function' || type === 'error'

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
