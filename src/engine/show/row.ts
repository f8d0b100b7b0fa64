import type { ByteWriter } from '../../lib/bytes.ts'
import { hasScaled, type StaticArgument, type StaticArguments } from './static-arguments.ts'

/** A row of a table whose columns are the arguments of one signature, behind some fields. */
export interface RowShape {
  /** Of the event or function. */
  name: string
  fields: readonly string[]
  /** `hasUnits`: whether a column with the value in whole tokens follows. */
  args: readonly { type: string; hasUnits: boolean }[]
}

/** Appends the current document as a row; false, with nothing left behind, if it has another shape. */
export type WriteRow = (out: ByteWriter) => boolean

/** A row begins with this byte, where JSON has a brace. Cells follow: a length of four bytes, and text. */
export const ROW_MARK = 1

/** The length of a cell without a value. */
export const NO_CELL = 0xffffffff

export const writeCell = (out: ByteWriter, write: (out: ByteWriter) => void) => {
  const start = out.length
  out.uint32(0)
  write(out)
  out.endSized(start)
}

export const writeArgumentCells = (
  out: ByteWriter,
  located: StaticArguments,
  args: readonly StaticArgument[],
  decimals: number | null,
  shape: RowShape,
) => {
  for (let i = 0; i < args.length; i++) {
    const argument = args[i]!
    const start = out.length
    out.uint32(0)
    located.plain(out, argument, i)
    out.endSized(start)
    if (!shape.args[i]!.hasUnits) continue
    const units = out.length
    out.uint32(NO_CELL)
    if (!hasScaled(argument, decimals)) continue
    located.scaled(out, argument, i, decimals)
    out.endSized(units)
  }
}
