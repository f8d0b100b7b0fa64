import { elementaryType } from '../../decode/signature.ts'
import type { AbiParam } from '../../decode/types.ts'
import { piece } from './pieces.ts'

/** How an argument of one word is shown. */
export type Form = 'address' | 'unsigned' | 'signed' | 'boolean' | 'fixed' | 'hash'

export interface Argument {
  form: Form
  /** Bytes of the type. */
  size: number
  /** Among the topics, else in the data. */
  isTopic: boolean
  /** `,{"name":"…","pos":n,"value":{"hex":"0x` */
  before: Uint8Array
  /** `,"type":"…"}}` */
  behind: Uint8Array
  /** What stands before its value in `str`. */
  label: Uint8Array
}

/** Characters that `str` may have; what is longer is cut, and goes the long way. */
const MOST_TEXT = 1000
/** A value has 78 digits at most. */
const MOST_VALUE = 90

const formOf = ({ type: written, indexed }: AbiParam): { form: Form; size: number } | undefined => {
  const type = elementaryType(written)
  const [, kind, bits] = /^(uint|int|bytes)(\d+)$/.exec(type ?? '') ?? []
  if (type === 'address') return { form: 'address', size: 20 }
  if (type === 'bool') return { form: 'boolean', size: 1 }
  if (type === 'function') return { form: 'fixed', size: 24 }
  if (kind === 'uint') return { form: 'unsigned', size: Number(bits) / 8 }
  if (kind === 'int') return { form: 'signed', size: Number(bits) / 8 }
  if (kind === 'bytes') return { form: 'fixed', size: Number(bits) }
  return indexed && (type === 'string' || type === 'bytes') ? { form: 'hash', size: 32 } : undefined
}

/** Arguments that take one word each; undefined where not all of them do, or where their text might be cut. */
export const compileArguments = (name: string, inputs: readonly AbiParam[]): Argument[] | undefined => {
  const compiled: Argument[] = []
  let length = name.length + 2
  for (const [pos, param] of inputs.entries()) {
    const form = formOf(param)
    const label = param.name || String(pos)
    length += label.length + MOST_VALUE
    if (!form || length > MOST_TEXT) return undefined
    compiled.push({
      ...form,
      isTopic: param.indexed === true,
      before: piece(`,{"name":${JSON.stringify(param.name)},"pos":${pos},"value":{"hex":"0x`),
      behind: piece(`,"type":${JSON.stringify(elementaryType(param.type))}}}`),
      label: piece(`, ${JSON.stringify(label).slice(1, -1)}=`),
    })
  }
  return compiled
}
