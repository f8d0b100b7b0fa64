import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../lib/retry.ts'
import { decodeAnswers, encodeQuestions, MULTICALL3, QUESTIONS_AT_ONCE } from './multicall.ts'
import type { Call } from './rpc/answers.ts'
import type { ReadQuestion, StateAnswer } from './source.ts'

interface StateReads {
  /** In one batch. */
  ask(calls: Call[], signal: AbortSignal): Promise<StateAnswer[]>
  clock: Clock
  /** How long a chain counts as one without the contract: it may come later, and old blocks are before it. */
  missingMs?: number
}

/**
 * Reads the state after a block: many questions by one call of a contract, where the chain has it, so
 * that they cost one request. What fails there is asked alone, for its reason.
 */
export const createStateReads = ({ ask, clock, missingMs = 600_000 }: StateReads) => {
  let missingUntil = Number.NEGATIVE_INFINITY

  const singly = (at: object, questions: readonly ReadQuestion[], signal: AbortSignal): Promise<StateAnswer[]> =>
    ask(
      questions.map(it =>
        'balanceOf' in it
          ? { method: 'eth_getBalance', params: [it.balanceOf, at] }
          : { method: 'eth_call', params: [it, at] },
      ),
      signal,
    )

  const together = async (at: object, questions: readonly ReadQuestion[], signal: AbortSignal) => {
    const call = { to: MULTICALL3, data: encodeQuestions(questions) }
    const [answer] = (await ask([{ method: 'eth_call', params: [call, at] }], signal)) as [StateAnswer]
    const found = 'hex' in answer ? decodeAnswers(answer.hex, questions.length) : undefined
    if (!found) {
      if ('hex' in answer) missingUntil = clock.elapsed() + missingMs
      return singly(at, questions, signal)
    }
    const failed = questions.filter((_, i) => found[i] === undefined)
    const again = failed.length === 0 ? [] : await singly(at, failed, signal)
    // As eth_getBalance writes it: what was read in another way is no change.
    return questions.map((it, i): StateAnswer => {
      const hex = found[i]
      if (hex === undefined) return again.shift()!
      return { hex: 'balanceOf' in it ? `0x${BigInt(hex).toString(16)}` : hex }
    })
  }

  const read = async (blockHash: string, questions: readonly ReadQuestion[], signal: AbortSignal) => {
    const at = { blockHash, requireCanonical: true }
    if (questions.length === 1 || clock.elapsed() < missingUntil) return singly(at, questions, signal)
    const answers: StateAnswer[] = []
    for (let i = 0; i < questions.length; i += QUESTIONS_AT_ONCE)
      answers.push(...(await together(at, questions.slice(i, i + QUESTIONS_AT_ONCE), signal)))
    return answers
  }

  const waiting = new Map<string, WaitingRead>()
  const begin = (blockHash: string, signal: AbortSignal): WaitingRead => {
    const questions: ReadQuestion[] = []
    const answers = nextTurn().then(() => {
      waiting.delete(blockHash)
      return read(blockHash, questions, signal)
    })
    return { questions, answers, signal }
  }
  /** Joins what else is asked at this block in the same turn of the event loop. */
  return async (blockHash: string, questions: readonly ReadQuestion[], signal: AbortSignal): Promise<StateAnswer[]> => {
    const known = waiting.get(blockHash)
    const group = known?.signal === signal ? known : begin(blockHash, signal)
    waiting.set(blockHash, group)
    const first = group.questions.push(...questions) - questions.length
    return (await group.answers).slice(first, first + questions.length)
  }
}

interface WaitingRead {
  questions: ReadQuestion[]
  answers: Promise<StateAnswer[]>
  signal: AbortSignal
}
