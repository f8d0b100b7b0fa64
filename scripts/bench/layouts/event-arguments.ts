import { elementaryType, fullType } from '../../../src/decode/signature.ts'
import type { AbiParam, EventAbi } from '../../../src/decode/types.ts'
import { bytes } from './json.ts'

/** How a static argument is shown; all of them are one word. */
type Form = 'address' | 'unsigned' | 'signed' | 'boolean' | 'fixed' | 'hash'

export interface Argument {
  form: Form
  /** Bytes of the type. */
  size: number
  /** Index among the topics behind the first, or among the words of the data. */
  topic: boolean
  word: number
  /** `{"name":"…","pos":n,"value":{"hex":"0x` and `,"type":"…"}}` */
  before: Uint8Array
  after: Uint8Array
  /** What stands before its value in `str`. */
  label: Uint8Array
}

/** So that `str` is never cut: names are short, and a value has 78 digits at most. */
const MOST_TEXT = 1000

const formOf = (param: AbiParam): { form: Form; size: number } | undefined => {
  const type = elementaryType(param.type)
  const [, kind, bits] = /^(uint|int|bytes)(\d+)$/.exec(type ?? '') ?? []
  if (type === 'address') return { form: 'address', size: 20 }
  if (type === 'bool') return { form: 'boolean', size: 1 }
  if (kind === 'uint') return { form: 'unsigned', size: Number(bits) / 8 }
  if (kind === 'int') return { form: 'signed', size: Number(bits) / 8 }
  if (kind === 'bytes') return { form: 'fixed', size: Number(bits) }
  return param.indexed ? { form: 'hash', size: 32 } : undefined
}

/** Undefined where an argument is dynamic, or where `str` might be cut. */
export const compileArguments = ({ name, inputs }: EventAbi): Argument[] | undefined => {
  const args: Argument[] = []
  const words = { topic: 0, data: 0 }
  let length = name.length + 2
  for (const [pos, param] of inputs.entries()) {
    const how = formOf(param)
    if (!how) return undefined
    const type = fullType(param)
    length += 90 + param.name.length
    args.push({
      ...how,
      topic: param.indexed === true,
      word: param.indexed ? words.topic++ : words.data++,
      before: bytes(`{"name":${JSON.stringify(param.name)},"pos":${pos},"value":{"hex":"0x`),
      after: bytes(`,"type":${JSON.stringify(type)}}}`),
      label: bytes(`${pos === 0 ? '' : ', '}${JSON.stringify(param.name || String(pos)).slice(1, -1)}=`),
    })
  }
  return length > MOST_TEXT ? undefined : args
}
