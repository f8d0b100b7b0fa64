import type { Reader } from '../reader.ts'

/** What was answered since the store changed last. */
export interface Answers {
  /** `question` means the same at any moment; where it is undefined, nothing is kept. */
  of(question: string | undefined, make: () => string): string
}

/** Characters that one reader keeps. */
const CAPACITY = 2 * 2 ** 20
const LONGEST = CAPACITY / 8

export const createAnswers = (reader: Pick<Reader, 'version'>): Answers => {
  const known = new Map<string, string>()
  let held = 0
  let seen: number | undefined
  const clear = () => {
    known.clear()
    held = 0
  }
  return {
    of(question, make) {
      if (question === undefined) return make()
      const version = reader.version()
      if (version !== seen) clear()
      seen = version
      const before = known.get(question)
      if (before !== undefined) return before
      const answer = make()
      const length = question.length + answer.length
      if (length > LONGEST) return answer
      if (held + length > CAPACITY) clear()
      known.set(question, answer)
      held += length
      return answer
    },
  }
}
