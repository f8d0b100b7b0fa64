import { renderEvent } from '../../decode/render.ts'
import type { AbiParam, DecodedArg } from '../../decode/types.ts'
import * as show from '../../documents/show.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { Addresses } from '../forms/addresses.ts'
import { type FieldPlan, writeCut } from '../forms/form.ts'
import { NULL, piece, writeJson } from '../forms/json.ts'
import { compileArguments, createStaticArguments, planArguments, type StaticArgument } from './static-arguments.ts'
export const MAX_CACHED_DECLARATIONS = 5_000

export interface ShownDeclaration {
  name: Uint8Array
  begin: Uint8Array
  abi: { name: string; inputs: readonly AbiParam[] }
  /** Undefined if some take more than one word: then values are decoded to text and objects. */
  args: StaticArgument[] | undefined
}

export const prepareDeclaration = (abi: ShownDeclaration['abi'], isPlain = true): ShownDeclaration => {
  const name = JSON.stringify(abi.name)
  return {
    name: piece(name),
    begin: piece(`${name.slice(0, -1)}(`),
    abi,
    args: isPlain ? compileArguments(abi.name, abi.inputs) : undefined,
  }
}

/** `located` if the arguments are read where they lie. */
export type DecodedArguments = 'located' | { args: readonly DecodedArg[] | null; error: string | null }

export const createDecodedShow = (addresses: Addresses) => {
  const located = createStaticArguments(addresses)
  return {
    located,
    /** Makes what appends `args`; false if the filter leaves nothing. */
    list(plan: FieldPlan) {
      const shown = planArguments(plan)
      return (
        out: ByteWriter,
        by: ShownDeclaration | null,
        decoded: DecodedArguments,
        decimals: number | null,
      ): boolean => {
        const compiled = decoded === 'located' ? by!.args! : []
        if (compiled.length > 0) {
          if (shown === 'empty') out.bytes(NO_ARGUMENTS)
          else if (shown) located.list(out, compiled, decimals, shown)
          return shown !== undefined
        }
        const args = decoded === 'located' ? null : decoded.args
        return writeCut(
          out,
          (args ?? []).map(arg => show.formatArgument(arg, decimals, show.asJson)),
          plan,
        )
      }
    },
    /** Appends `str`. */
    text(out: ByteWriter, { begin, abi, args: compiled }: ShownDeclaration, decoded: DecodedArguments) {
      if (decoded === 'located') {
        out.bytes(begin)
        located.text(out, compiled!)
        out.bytes(END_OF_TEXT)
      } else if (decoded.args) writeJson(out, renderEvent(abi, decoded.args))
      else out.bytes(NULL)
    },
  }
}

const NO_ARGUMENTS = piece('[]')
const END_OF_TEXT = piece(')"')
