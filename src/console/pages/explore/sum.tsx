import type { SearchAnswer } from '../../api/wire.ts'
import { setQuery } from '../../shell/router.tsx'
import type { Question } from './question.ts'

interface Props {
  question: Question
  answer: SearchAnswer | undefined
  /** Hits that came since. */
  news: number
  follows: boolean
  busy: boolean
  isCut: boolean
}

/** How many were found, in what time, and as what the text in the box was understood. */
export const Sum = ({ question, answer, news, follows, busy, isCut }: Props) => {
  const total = answer && answer.hits.total + news
  return (
    <p class="sum" role="status">
      {busy && <span class="dim">Searching …</span>}
      {answer && !busy && (
        <span>
          <strong>{total!.toLocaleString()}</strong> {total === 1 ? 'hit' : 'hits'} in {answer.took.toLocaleString()} ms
        </span>
      )}
      <span class="dim">Asked for {question.as}.</span>
      {follows && <span class="good">Follows the chain: {news.toLocaleString()} new.</span>}
      {isCut && (
        <button type="button" class="link" onClick={() => setQuery({ from: '', to: '' })}>
          Show the whole time
        </button>
      )}
    </p>
  )
}
