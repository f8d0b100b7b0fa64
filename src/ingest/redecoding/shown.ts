import type { OwnAbi } from '../../decode/declarations.ts'
import { fullType } from '../../decode/signature.ts'
import type { AbiParam, DecodedArg, Signature } from '../../decode/types.ts'
import { argument, asJson } from '../../documents/show.ts'
import type { Sureness } from '../../engine/redecode/comparison.ts'

/** By what a document was decoded, as far as it shows that. */
export interface Shown extends Sureness {
  name: string | null
  args: readonly Argument[]
}

interface Argument {
  name: string
  value: { hex: string; type: string }
}

/** Of a log that is no event. */
export const UNKNOWN: Shown = { name: null, args: [], decodes: false, probability: 0 }

type Source = Readonly<Record<string, unknown>>

export const shownEvent = ({ event, args, error, probability }: Source): Shown => ({
  name: event as string,
  args: args as Argument[],
  decodes: error === null,
  probability: probability as number,
})

export const shownCall = ({ method, args, str, probability }: Source): Shown => ({
  name: method as string | null,
  args: args as Argument[],
  // With bytes behind the arguments, it has an error as well.
  decodes: str !== null,
  probability: (probability ?? 0) as number,
})

/** Whether it is decoded by the same now: then nothing of it changes, decimals included. */
export const isSame = (was: Shown, now: { signature: Signature; args: readonly DecodedArg[] | null }): boolean => {
  const { event, error, probability } = now.signature
  if (!was.decodes || error !== null || event?.name !== was.name || probability !== was.probability) return false
  const args = (now.args ?? []).map(arg => argument(arg, null, asJson))
  return (
    args.length === was.args.length &&
    args.every(({ name, value }, i) => {
      const { name: before, value: other } = was.args[i]!
      return name === before && value.type === other.type && value.hex === other.hex
    })
  )
}

/** Whether an ABI may tell more of it: what is as the ABI has it gains nothing by it, and what is surer than it neither. */
export const mayGain = (
  was: Shown,
  { probability }: Pick<OwnAbi, 'probability'>,
  declared: readonly { name: string; inputs: readonly AbiParam[] }[],
): boolean => {
  if (!was.decodes) return true
  if (was.probability !== probability) return was.probability < probability
  return !declared.some(
    ({ name, inputs }) =>
      name === was.name &&
      inputs.length === was.args.length &&
      inputs.every((input, i) => input.name === was.args[i]!.name && fullType(input) === was.args[i]!.value.type),
  )
}
