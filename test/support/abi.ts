import fc from 'fast-check'
import { type AbiParameter, decodeAbiParameters, encodeAbiParameters, type Hex, stringToHex } from 'viem'
import { fullType } from '../../src/decode/signature.ts'
import type { AbiParam, DecodedArg } from '../../src/decode/types.ts'

// --- The oracle: what an argument must be, told by viem's encoder alone.

export const viemParam = (param: AbiParam) => ({ ...param }) as AbiParameter
export const encoded = (param: AbiParam, value: unknown): Hex =>
  encodeAbiParameters([viemParam({ ...param, name: '' })], [value])

export const isHashed = ({ type }: AbiParam) => /^(string|bytes|tuple)$|\]$/.test(type)

export const expected = (param: AbiParam, pos: number, value: unknown): DecodedArg => {
  const { name, type } = param
  const arg = (hex: string, int: bigint | null = null) => ({ name, pos, type: fullType(param), hex, int })
  if (param.indexed && isHashed(param)) return arg(value as string)
  if (type.endsWith(']') || type === 'tuple') return arg(encoded(param, value))
  if (type === 'string') return arg(stringToHex(value as string))
  if (type === 'bool') return arg(value ? '0x1' : '0x0', value ? 1n : 0n)
  const bits = /^u?int(\d+)$/.exec(type)?.[1]
  if (bits !== undefined) {
    const int = BigInt(value as bigint)
    return arg(`0x${BigInt.asUintN(Number(bits), int).toString(16)}`, int)
  }
  return arg((value as string).toLowerCase())
}

// --- Random types with values of them.

export type Typed = { param: AbiParam; value: fc.Arbitrary<unknown> }

export const hexOf = (min: number, max = min) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map(bytes => `0x${Buffer.from(bytes).toString('hex')}`)

const elementary: fc.Arbitrary<Typed> = fc.oneof(
  fc.constantFrom<Typed>(
    { param: { name: '', type: 'address' }, value: hexOf(20) },
    { param: { name: '', type: 'bool' }, value: fc.boolean() },
    { param: { name: '', type: 'string' }, value: fc.string({ unit: 'grapheme', maxLength: 40 }) },
    { param: { name: '', type: 'bytes' }, value: hexOf(0, 100) },
  ),
  fc.integer({ min: 1, max: 32 }).map(size => ({ param: { name: '', type: `bytes${size}` }, value: hexOf(size) })),
  fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 32 })).map(([signed, bytes]): Typed => {
    const bits = BigInt(bytes * 8)
    const [min, max] = signed ? [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n] : [0n, (1n << bits) - 1n]
    const value = fc.oneof(fc.constantFrom(min, max, 0n), fc.bigInt({ min, max }))
    // viem takes small integers as numbers.
    return {
      param: { name: '', type: `${signed ? '' : 'u'}int${bits}` },
      value: bits <= 48n ? value.map(Number) : value,
    }
  }),
)

const arrayOf = (element: Typed, length: number | null): Typed => ({
  param: { ...element.param, type: `${element.param.type}[${length ?? ''}]` },
  value: fc.array(element.value, { minLength: length ?? 0, maxLength: length ?? 4 }),
})

const tupleOf = (components: Typed[]): Typed => ({
  param: {
    name: '',
    type: 'tuple',
    components: components.map(({ param }, i) => ({ ...param, name: `field${i}` })),
  },
  value: fc
    .tuple(...components.map(component => component.value))
    .map(values => Object.fromEntries(values.map((value, i) => [`field${i}`, value]))),
})

export const typed: fc.Arbitrary<Typed> = fc.letrec<{ any: Typed; elementary: Typed; array: Typed; tuple: Typed }>(
  tie => ({
    any: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('elementary'), tie('array'), tie('tuple')),
    elementary,
    array: fc
      .tuple(tie('any'), fc.option(fc.integer({ min: 1, max: 3 })))
      .map(([element, length]) => arrayOf(element, length)),
    tuple: fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map(tupleOf),
  }),
).any

/** What viem decodes, or null where it refuses. */
export const viemValues = (params: readonly AbiParam[], data: Hex): readonly unknown[] | null => {
  if (params.length === 0) return []
  const read = (text: Hex) => decodeAbiParameters(params.map(viemParam), text) as readonly unknown[]
  try {
    return read(data)
  } catch (error) {
    // viem steps over an empty value, and refuses to stand where the data ends: there it says whether it reads more of them.
    const end = (data.length - 2) / 2
    if (!(error instanceof Error) || !error.message.startsWith(`Position \`${end}\` is out of bounds`)) return null
  }
  try {
    return read(`${data}${'00'.repeat(32)}`)
  } catch {
    return null
  }
}
