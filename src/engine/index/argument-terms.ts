import type { AbiParam, DecodedArg, DecodedLog, Signature } from '../../decode/types.ts'
import type { BlockCall } from '../../documents/calls.ts'
import { scaled } from '../../documents/show.ts'
import { GREATEST_LONG, LEAST_LONG } from '../../query/simplify.ts'
import type { EncodingContext } from '../documents/block-encoder.ts'
import type { createNumbersBuilder } from './points.ts'
import type { createPairsBuilder } from './postings.ts'
import {
  argumentField,
  argumentSlot,
  fieldId,
  HASHED,
  integersField,
  logField,
  scaledField,
  TOO_LONG,
  termOf,
  UNDECODED,
} from './terms.ts'

export interface Numbered {
  id: number
  /** Shared by all that the dictionary had no room for. */
  unlisted: boolean
}

export interface IndexedLog extends Omit<DecodedLog, 'decimals'> {
  numbered: Numbered
  emitter: number
  decimals: number | undefined
  topics: readonly string[]
  /** Ids of the topics behind the first that are addresses, where they are known. */
  topicIds: readonly (number | undefined)[]
}

export interface IndexedCall extends Pick<BlockCall, 'signature' | 'args'> {
  numbered: Numbered
  target: number
  decimals: number | undefined
}

/** Makes what adds the terms and numbers of logs and calls. */
export const createIndexing = (
  { addresses, hash }: Pick<EncodingContext, 'addresses' | 'hash'>,
  postings: ReturnType<typeof createPairsBuilder>,
  numbers: ReturnType<typeof createNumbersBuilder>,
) => {
  const hashed = (text: string, field: number, ordinal: number) => {
    const { high, low } = hash(text)
    postings.add(termOf(HASHED + high, field), low, ordinal)
  }

  const addArguments = (
    args: readonly DecodedArg[],
    inputs: readonly AbiParam[],
    topicIds: readonly (number | undefined)[],
    signature: number,
    decimals: number | undefined,
    ordinal: number,
  ) => {
    let topic = 0
    for (const { pos, type, hex, int } of args) {
      const topicId = inputs[pos]!.indexed ? topicIds[topic++] : undefined
      const slot = argumentSlot(pos)
      const field = argumentField(signature, slot)
      // Longer than what an index may hold (`ignore_above`).
      if (hex.length > 256) {
        postings.add(termOf(TOO_LONG, field), 0, ordinal)
        continue
      }
      if (type === 'address') postings.add(termOf(topicId ?? addresses.id(hex.slice(2)), field), 0, ordinal)
      else hashed(hex, field, ordinal)
      if (int === null) continue
      if (int >= LEAST_LONG && int <= GREATEST_LONG) numbers.add(integersField(signature, slot), int, ordinal)
      if (decimals !== undefined && type !== 'bool')
        numbers.add(scaledField(signature, slot), scaled(int, decimals), ordinal)
    }
  }

  return {
    log({ signature, args, numbered, emitter, decimals, topics, topicIds }: IndexedLog, ordinal: number) {
      const { id, unlisted } = numbered
      postings.add(termOf(0, logField(id)), 0, ordinal)
      postings.add(termOf(emitter, logField(id)), 0, ordinal)
      if (!isEvent(signature, numbered)) postings.add(termOf(0, UNDECODED), 0, ordinal)
      if (!unlisted && args) return addArguments(args, signature.event!.inputs, topicIds, id, decimals, ordinal)
      const first = firstTopicOf(numbered)
      for (let t = first; t < topics.length; t++)
        hashed(topics[t]!.toLowerCase(), argumentField(id, t - first), ordinal)
    },
    call({ signature, args, numbered, target, decimals }: IndexedCall, ordinal: number) {
      const { id, unlisted } = numbered
      postings.add(termOf(0, logField(id)), 0, ordinal)
      postings.add(termOf(target, logField(id)), 0, ordinal)
      if (unlisted) hashed(signature.topic!, SELECTOR_FIELD, ordinal)
      else if (args) addArguments(args, signature.event!.inputs, NO_TOPIC_IDS, id, decimals, ordinal)
    },
  }
}

/** Index of the first topic that a log stores itself: an unlisted signature has no first topic. */
export const firstTopicOf = ({ unlisted }: Numbered): 0 | 1 => (unlisted ? 0 : 1)

export const isEvent = ({ event }: Signature, { unlisted }: Numbered): boolean => event !== null && !unlisted

const NO_TOPIC_IDS: readonly undefined[] = []
const SELECTOR_FIELD = fieldId('call', 'selector')
