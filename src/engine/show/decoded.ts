import { renderEvent } from '../../decode/render.ts'
import type { AbiParam, DecodedArg } from '../../decode/types.ts'
import * as show from '../../documents/show.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { Addresses } from '../forms/addresses.ts'
import { type FieldPlan, writeCut } from '../forms/form.ts'
import { NULL, piece, writeJson } from '../forms/json.ts'
import { type Argument, compileArguments, createLocated, shownArguments } from './located.ts'
export const DECLARATIONS = 5_000

export interface Declaration {
  name: Uint8Array
  begin: Uint8Array
  abi: { name: string; inputs: readonly AbiParam[] }
  /** Undefined if some take more than one word: then values are decoded to text and objects. */
  args: Argument[] | undefined
}

export const declare = (abi: Declaration['abi'], isPlain = true): Declaration => {
  const name = JSON.stringify(abi.name)
  return {
    name: piece(name),
    begin: piece(`${name.slice(0, -1)}(`),
    abi,
    args: isPlain ? compileArguments(abi.name, abi.inputs) : undefined,
  }
}

/** `located` if the arguments are read where they lie. */
export type Decoded = 'located' | { args: readonly DecodedArg[] | null; error: string | null }

export const createDecodedShow = (addresses: Addresses) => {
  const located = createLocated(addresses)
  return {
    located,
    /** Makes what appends `args`; false if the filter leaves nothing. */
    list(plan: FieldPlan) {
      const shown = shownArguments(plan)
      return (out: ByteWriter, by: Declaration | null, decoded: Decoded, decimals: number | null): boolean => {
        const compiled = decoded === 'located' ? by!.args! : []
        if (compiled.length > 0) {
          if (shown === 'empty') out.bytes(EMPTY_LIST)
          else if (shown) located.list(out, compiled, decimals, shown)
          return shown !== undefined
        }
        const args = decoded === 'located' ? null : decoded.args
        return writeCut(
          out,
          (args ?? []).map(arg => show.argument(arg, decimals, show.asJson)),
          plan,
        )
      }
    },
    /** Appends `str`. */
    text(out: ByteWriter, { begin, abi, args: compiled }: Declaration, decoded: Decoded) {
      if (decoded === 'located') {
        out.bytes(begin)
        located.text(out, compiled!)
        out.bytes(END)
      } else if (decoded.args) writeJson(out, renderEvent(abi, decoded.args))
      else out.bytes(NULL)
    },
  }
}

const EMPTY_LIST = piece('[]')
const END = piece(')"')
