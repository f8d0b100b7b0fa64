import { elementaryType } from '../../decode/signature.ts'
import type { AbiParam } from '../../decode/types.ts'
import type { FieldPlan } from '../forms/form.ts'
import { piece } from '../forms/json.ts'

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
  /** Its parts where not all of them are shown: `,"name":"…"`, `,"pos":n` and `,"type":"…"`. */
  name: Uint8Array
  pos: Uint8Array
  type: Uint8Array
  /** What stands before its value in `str`. */
  label: Uint8Array
}

/** Characters that `str` may have; what is longer is cut, and goes the long way. */
const MAX_TEXT = 1000
/** A value has 78 digits at most. */
const MAX_VALUE = 90

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
    length += label.length + MAX_VALUE
    if (!form || length > MAX_TEXT) return undefined
    const parts = {
      name: `,"name":${JSON.stringify(param.name)}`,
      pos: `,"pos":${pos}`,
      type: `,"type":${JSON.stringify(elementaryType(param.type))}`,
    }
    compiled.push({
      ...form,
      isTopic: param.indexed === true,
      before: piece(`,{${parts.name.slice(1)}${parts.pos},"value":{"hex":"0x`),
      behind: piece(`${parts.type}}}`),
      name: piece(parts.name),
      pos: piece(parts.pos),
      type: piece(parts.type),
      label: piece(`, ${JSON.stringify(label).slice(1, -1)}=`),
    })
  }
  return compiled
}

/** What a filter leaves of each argument. */
export interface ShownArgument {
  name: boolean
  pos: boolean
  /** Undefined where the object goes with its members. */
  value: { hex: boolean; num: boolean; scaled: boolean; type: boolean } | undefined
}

/** What a filter leaves of `args`: all of each argument, parts of each, or a list without any; undefined where that goes, too. */
export type ShownArguments = 'whole' | ShownArgument | 'empty' | undefined

const SAMPLE = [{ name: '', pos: 0, value: { hex: '', num: 0, scaled: 0, type: '' } }]

/** All arguments have the same members, so that what is left of one tells it of all. */
export const shownArguments = ({ shown, cut }: Pick<FieldPlan, 'shown' | 'cut'>): ShownArguments => {
  if (shown === 'whole') return 'whole'
  const left = cut(SAMPLE) as Partial<(typeof SAMPLE)[0]>[] | undefined
  const [first] = left ?? []
  if (!first) return left && 'empty'
  const { value } = first
  const has = (name: string) => value !== undefined && name in value
  return {
    name: 'name' in first,
    pos: 'pos' in first,
    value: value && { hex: has('hex'), num: has('num'), scaled: has('scaled'), type: has('type') },
  }
}
