import { createEventDecoder, createFunctionDecoder } from '../../decode/abi-decoder.ts'
import type { DecodedArg, DecodeResult, Signature } from '../../decode/types.ts'
import { scaled } from '../../documents/show.ts'
import type { ExportedSource } from '../../export/from-documents.ts'

/** Decoding that a document shows. */
interface ShownDecoding {
  name: unknown
  args: readonly ShownArgument[]
  /** Null where nothing was decoded. */
  str: unknown
  probability: unknown
  /** Reason if it was not decoded. */
  error: unknown
}

interface ShownArgument {
  name: string
  value: { type: string; scaled: number | null }
}

export const shownDecoding = (source: ExportedSource, name: 'event' | 'method'): ShownDecoding => ({
  name: source[name],
  args: source.args as ShownArgument[],
  str: source.str,
  probability: source.probability,
  error: source.error,
})

/** Declaration that a log or call was decoded by, and the result. */
export interface Declared {
  signature: Signature
  args: DecodedArg[] | null
  decimals: number | null
}

export type Declarations = ReturnType<typeof createDeclarations>

/** Finds the declarations that decoded documents, among those in the store by topic or selector. */
export const createDeclarations = (signatures: (of: Signature['of']) => readonly Signature[]) => {
  const known = {
    log: createByTopic(() => signatures('log')),
    call: createByTopic(() => signatures('call')),
  }
  const logs = new WeakMap<object, ReturnType<typeof createEventDecoder>>()
  const calls = new WeakMap<object, ReturnType<typeof createFunctionDecoder>>()

  const find = (
    candidates: readonly Signature[],
    shown: ShownDecoding,
    decode: (signature: Signature) => DecodeResult | { args: DecodedArg[] | null },
    likely: number | undefined,
  ): Declared | undefined => {
    for (const signature of candidates) {
      const { event, probability, error } = signature
      if (!event || event.name !== shown.name || probability !== shown.probability) continue
      if (shown.str === null) {
        // The error of a call is computed when it is shown, that of a log is the declaration's.
        if (error !== null && (signature.of === 'call' || error === shown.error))
          return { signature, args: null, decimals: null }
        continue
      }
      if (error !== null) continue
      const { args } = decode(signature)
      if (args && areShown(args, shown)) return { signature, args, decimals: decimalsOf(args, shown, likely) }
    }
    return undefined
  }

  return {
    log(
      shown: ShownDecoding,
      { topics, data }: { topics: readonly string[]; data: string },
      likely: number | undefined,
    ) {
      const topic = topics[0]!.toLowerCase()
      const candidates = known.log(topic).filter(({ indexed }) => indexed === topics.length - 1)
      return find(
        candidates,
        shown,
        ({ event }) => cached(logs, event!, () => createEventDecoder(event!))(topics, data),
        likely,
      )
    },
    call(shown: ShownDecoding, input: string, likely: number | undefined) {
      return find(
        known.call(input.slice(0, 10).toLowerCase()),
        shown,
        ({ event }) => cached(calls, event!, () => createFunctionDecoder(event!))(input),
        likely,
      )
    },
  }
}

const cached = <T>(known: WeakMap<object, T>, key: object, make: () => T): T => {
  let found = known.get(key)
  if (found === undefined) {
    found = make()
    known.set(key, found)
  }
  return found
}

/** The list is a new one whenever it grows. */
const createByTopic = (list: () => readonly Signature[]): ((topic: string) => readonly Signature[]) => {
  let read: readonly Signature[] | undefined
  let byTopic = new Map<string | null, Signature[]>()
  return topic => {
    const now = list()
    if (now !== read) byTopic = Map.groupBy(now, signature => signature.topic)
    read = now
    return byTopic.get(topic) ?? []
  }
}

const areShown = (args: readonly DecodedArg[], shown: ShownDecoding): boolean =>
  args.length === shown.args.length &&
  args.every(({ name, type }, i) => shown.args[i]!.name === name && shown.args[i]!.value.type === type)

/** Most decimals of a token: they are a byte. */
const MOST_DECIMALS = 255

/** Decimals that its integers are scaled by. Zeros fit any: then the token's count. */
const decimalsOf = (args: readonly DecodedArg[], shown: ShownDecoding, likely: number | undefined): number | null => {
  const integers = args.flatMap(({ int, type }, i) =>
    int === null || type === 'bool' ? [] : [[int, shown.args[i]!.value.scaled] as const],
  )
  if (integers.length === 0) return likely ?? null
  if (integers.some(([, value]) => value === null)) return null
  const fits = (decimals: number) => integers.every(([int, value]) => scaled(int, decimals) === value)
  if (likely !== undefined && fits(likely)) return likely
  for (let decimals = 0; decimals <= MOST_DECIMALS; decimals++) if (fits(decimals)) return decimals
  return null
}
