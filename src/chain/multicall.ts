import type { ReadQuestion } from './source.ts'

/** Contract that makes several calls in one, under the same address on most chains: github.com/mds1/multicall. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11'
/** Questions in one call: nodes limit its gas. */
export const QUESTIONS_AT_ONCE = 100

const AGGREGATE3 = '0x82ad56cb'
const GET_ETH_BALANCE = '0x4d2301cc'

/** Bytes of a call of `aggregate3`, in which each question may fail by itself. */
export const encodeQuestions = (questions: readonly ReadQuestion[]): string => {
  const calls = questions.map(it => {
    const [to, data] =
      'balanceOf' in it ? [MULTICALL3, GET_ETH_BALANCE + wordOfAddress(it.balanceOf)] : [it.to, it.data]
    const bytes = data.slice(2)
    return (
      wordOfAddress(to) +
      wordOfNumber(1) +
      wordOfNumber(96) +
      wordOfNumber(bytes.length / 2) +
      bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')
    )
  })
  let offset = 32 * calls.length
  const offsets = calls.map(call => {
    const own = wordOfNumber(offset)
    offset += call.length / 2
    return own
  })
  return [AGGREGATE3, wordOfNumber(32), wordOfNumber(calls.length), ...offsets, ...calls].join('')
}

/**
 * What each question was answered; undefined for one that failed. Undefined if the answer is none of
 * `aggregate3`, as where there is no such contract.
 */
export const decodeAnswers = (answer: string, count: number): (string | undefined)[] | undefined => {
  const bytes = Buffer.from(answer.slice(2), 'hex')
  /** NaN where nothing lies. */
  const at = (offset: number): number => {
    if (!(offset + 32 <= bytes.length)) return Number.NaN
    const found = Number(bytes.readBigUInt64BE(offset + 24))
    return found > bytes.length ? Number.NaN : found
  }
  const list = at(0)
  if (at(list) !== count) return undefined
  const first = list + 32
  const all = Array.from({ length: count }, (_, i) => {
    const call = first + at(first + 32 * i)
    const start = call + at(call + 32)
    return { success: at(call), start: start + 32, end: start + 32 + at(start) }
  })
  if (!all.every(({ success, end }) => success <= 1 && end <= bytes.length)) return undefined
  return all.map(({ success, start, end }) => (success === 1 ? `0x${bytes.toString('hex', start, end)}` : undefined))
}

const wordOfAddress = (address: string): string => address.slice(2).toLowerCase().padStart(64, '0')
const wordOfNumber = (value: number): string => value.toString(16).padStart(64, '0')
