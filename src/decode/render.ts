import { checksumAddress } from '../lib/keccak.ts'
import { decodeParts } from './abi-decoder.ts'
import type { AbiParam, DecodedArg } from './types.ts'

/** Maximal lengths of an argument and of a whole event, in characters. */
const ARGUMENT_LIMIT = 256
const EVENT_LIMIT = 1000

/**
 * `Transfer(from=0x…, to=0x…, value=1000)`: unnamed arguments show their position, long ones are
 * cut. Text from the chain is quoted; characters that steer terminals or text direction are
 * escaped.
 */
export const renderEvent = (
  event: { name: string; inputs: readonly AbiParam[] },
  args: readonly DecodedArg[],
): string =>
  cutRendered(
    `${event.name}(${args.map(arg => `${arg.name || arg.pos}=${render(event.inputs[arg.pos]!, arg, ARGUMENT_LIMIT)}`).join(', ')})`,
    EVENT_LIMIT,
  )

/** Text from the chain; characters that steer terminals or text direction are escaped. */
export const renderText = (hex: string, limit: number): string =>
  // A character takes four bytes at most.
  cutRendered(
    Buffer.from(hex.slice(2, 2 + 8 * limit), 'hex')
      .toString()
      .replace(STEERING, escapeCharacter),
    limit,
  )

const render = (param: AbiParam, arg: DecodedArg, limit: number): string => {
  const { type } = arg
  if (arg.int !== null) return type === 'bool' ? String(arg.int === 1n) : String(arg.int)
  if (type === 'address') return checksumAddress(arg.hex)
  if (param.indexed) return arg.hex
  if (type === 'string') {
    // A character takes four bytes at most.
    const text = Buffer.from(arg.hex.slice(2, 2 + 8 * limit), 'hex').toString()
    return cutRendered(JSON.stringify(text).replace(STEERING, escapeCharacter), limit)
  }
  if (!type.endsWith(']') && !type.endsWith(')')) return cutRendered(arg.hex, limit)

  const isArray = type.endsWith(']')
  const parts: string[] = []
  let room = limit
  for (const part of decodeParts(param, arg.hex, limit)) {
    const inner = isArray ? elementParam(param) : param.components![part.pos]!
    const text = isArray ? render(inner, part, room) : `${part.name || part.pos}=${render(inner, part, room)}`
    parts.push(text)
    room -= text.length + 2
    if (room <= 0) break
  }
  return cutRendered(isArray ? `[${parts.join(', ')}]` : `(${parts.join(', ')})`, limit)
}

const elementParam = (param: AbiParam): AbiParam => ({
  ...param,
  type: param.type.slice(0, param.type.lastIndexOf('[')),
})

/** Control and format characters that JSON does not escape: C1, invisible, bidirectional. */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escapeCharacter = (character: string): string => {
  let result = ''
  for (let i = 0; i < character.length; i++) result += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  return result
}

const cutRendered = (text: string, limit: number): string => {
  if (text.length <= limit) return text
  const last = text.charCodeAt(limit - 2)
  return `${text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 2 : limit - 1)}…`
}
