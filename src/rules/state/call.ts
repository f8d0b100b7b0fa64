import { createFunctionDecoder } from '../../decode/abi-decoder.ts'
import { type FunctionAbi, fullType, parseSignature, selectorOf } from '../../decode/signature.ts'
import type { AbiParam, DecodedArg } from '../../decode/types.ts'

/** What a rule of the target `State` reads: balances, or what a view function answers. */
export type ReadConfig = { every: { blocks: number } } & (
  | { balances: string[]; address?: undefined; call?: undefined; args?: undefined; decimals?: undefined }
  | { balances?: undefined; address: string; call: string; args?: string[]; decimals?: number }
)

/** A function with results. Throws a sentence if the text declares none. */
export const parseCall = (text: string): FunctionAbi & { outputs: readonly AbiParam[] } => {
  const { outputs = [], ...rest } = parseSignature(text, 'function')
  if (outputs.length === 0) throw new Error('it must say what it returns, as in "… view returns (uint256 price)"')
  return { ...rest, outputs }
}

/** Bytes of a call. Throws a sentence if an argument does not fit its type. */
export const encodeCall = (abi: FunctionAbi, args: readonly string[]): string =>
  selectorOf(abi) + abi.inputs.map((param, i) => encodeWord(param, args[i] ?? '')).join('')

const encodeWord = (param: AbiParam, text: string): string => {
  const type = fullType(param)
  const [, unsigned, bits] = /^(u?)int(\d+)$/.exec(type) ?? []
  if (type === 'address' && /^0x[0-9a-fA-F]{40}$/.test(text)) return text.slice(2).toLowerCase().padStart(64, '0')
  if (type === 'bool' && (text === 'true' || text === 'false')) return (text === 'true' ? '1' : '0').padStart(64, '0')
  const [, size] = /^bytes(\d+)$/.exec(type) ?? []
  if (size !== undefined && /^0x[0-9a-fA-F]*$/.test(text) && text.length === 2 + 2 * Number(size))
    return text.slice(2).toLowerCase().padEnd(64, '0')
  if (bits !== undefined && /^(-?\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text)) {
    const value = BigInt(text)
    const fits = unsigned ? BigInt.asUintN(Number(bits), value) : BigInt.asIntN(Number(bits), value)
    if (value === fits) return BigInt.asUintN(256, value).toString(16).padStart(64, '0')
  }
  if (type !== 'address' && type !== 'bool' && size === undefined && bits === undefined)
    throw new Error(
      `an argument of the type ${type} cannot be given: a call takes address, bool, integers and bytes1 to bytes32`,
    )
  throw new Error(`it must be ${type === 'bool' ? '"true" or "false"' : `of the type ${type}`}`)
}

/** Reads results as arguments; a string says why it cannot. */
export const decodeResults = (outputs: readonly AbiParam[], answer: string): DecodedArg[] | string => {
  if (answer === '0x') return 'The answer is empty: there is no contract, or it has no such function.'
  // The decoder expects a selector, and does not look at it.
  const { args, error } = createFunctionDecoder({ name: '', inputs: outputs })(`0x00000000${answer.slice(2)}`)
  return args ?? `The answer does not fit the declaration: ${error}.`
}
