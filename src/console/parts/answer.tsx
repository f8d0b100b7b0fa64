import type { ComponentChildren } from 'preact'
import { getAccount, SCOPES, type Scope } from '../api/account.ts'
import { useAsk } from '../api/ask.ts'
import { messageOf } from '../api/client.ts'
import { plain } from './format.ts'
import { Command } from './text.tsx'

/** In place of what is not there: says why, and what can be done. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <section class="empty">
    <h2>{title}</h2>
    {children}
  </section>
)

interface FaultProps {
  /** What failed. */
  title?: string
  error: unknown
  /** Offered as a button. */
  again?: () => void
}

/** An error, which says what to do; its text may repeat what was typed. */
export const Fault = ({ title, error, again }: FaultProps) => (
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

/** Something of unknown length is under way. */
export const Busy = ({ label }: { label: string }) => (
  <p class="busy" role="status">
    {label} …
  </p>
)

/** How far something is. */
export const Progress = ({ label, done, total }: { label: string; done: number; total: number }) => (
  <label class="progress">
    {label}: {done.toLocaleString()} of {total.toLocaleString()}
    <progress value={done} max={Math.max(total, 1)} />
  </label>
)

interface ScopeProps {
  scope: Scope
  /** What the scope is needed for, such as `see and change ABIs`. */
  to: string
  children: ComponentChildren
}

/** What is in it asks for a scope: a token that lacks it is told so, and how to get one. */
export const NeedsScope = ({ scope, to, children }: ScopeProps) => {
  const { data, error, again } = useAsk('account', getAccount)
  if (error !== undefined && !data) return <Fault title="The account cannot be read" error={error} again={again} />
  if (!data) return <Busy label="Reading what your token may do" />
  const { scopes } = data.token
  if (scopes.includes(scope)) return children
  const wanted = SCOPES.filter(it => it === scope || scopes.includes(it))
  return (
    <Empty title={`Your token lacks the scope ${scope}`}>
      <p>
        You need the scope <code>{scope}</code> to {to}. Your token has: {scopes.join(', ')}.
      </p>
      <p>The operator of the server creates a token that may:</p>
      <Command
        parts={['chainsieve', 'token', 'create', '--account', data.account, ...wanted.flatMap(it => ['--scope', it])]}
      />
      <p>Then sign out, and sign in with it.</p>
    </Empty>
  )
}
