import { messageOf } from '../api/client.ts'
import { plain } from './visible.ts'

interface Props {
  /** What failed. */
  title?: string
  error: unknown
  /** Offered as a button. */
  again?: () => void
}

/** An error, which says what to do; its text may repeat what was typed. */
export const Fault = ({ title, error, again }: Props) => (
  <div class="fault" role="alert">
    {title !== undefined && <strong>{title}. </strong>}
    {plain(messageOf(error)).slice(0, LONGEST)}
    {again && (
      <button type="button" class="link" onClick={again}>
        Try again
      </button>
    )}
  </div>
)

const LONGEST = 2_000
