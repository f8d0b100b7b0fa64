import type { ComponentChildren } from 'preact'
import type { AskState } from '../api/ask.ts'
import { ApiError, messageOf } from '../api/client.ts'
import { useAccount } from '../api/status.ts'
import { type GrantedScope, TOKEN_SCOPES } from '../api/wire.ts'
import { Button } from './controls.tsx'
import { visibleText } from './format.ts'
import { ShellCommand, say } from './text.tsx'

/** Placeholder with a reason and advice. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <section class="empty">
    <h2>{title}</h2>
    {children}
  </section>
)

/** Shows an error; `again` adds a retry button. That no server answers a read stands above each page. */
export const Fault = ({ title, error, again }: { title?: string | undefined; error: unknown; again?: () => void }) =>
  again && isUnreachable(error) ? null : (
    <div class="fault" role="alert">
      {title !== undefined && <strong>{title}. </strong>}
      {visibleText(messageOf(error)).slice(0, MAX_FAULT_LENGTH)}
      {again && <Button class="link" label="Try again" onClick={again} />}
    </div>
  )

const MAX_FAULT_LENGTH = 2_000

const isUnreachable = (error: unknown) => error instanceof ApiError && error.status === 0

export const Busy = ({ label }: { label: string }) => (
  <p class="busy" role="status">
    {label} …
  </p>
)

export const Progress = ({ label, done, total }: { label: string; done: number; total: number }) => (
  <label class="progress">
    {label}: {done.toLocaleString()} of {total.toLocaleString()}
    <progress value={done} max={Math.max(total, 1)} />
  </label>
)

interface AwaitProps<T> {
  asked: Pick<AskState<T>, 'data' | 'error' | 'again'>
  /** Title of an error. */
  failed?: string
  /** Label while waiting. */
  busy?: string
  /** Hides errors while an earlier answer is shown. */
  quiet?: boolean
  children?(data: T): ComponentChildren
}

/** Renders an answer, its progress or its error. */
export const Await = <T,>({ asked: { data, error, again }, failed, busy, quiet, children }: AwaitProps<T>) => (
  <>
    {error !== undefined && !(quiet && data !== undefined) && <Fault title={failed} error={error} again={again} />}
    {data === undefined && busy !== undefined && (error === undefined || isUnreachable(error)) && (
      <Busy label={error === undefined ? busy : 'Waiting for the server'} />
    )}
    {data !== undefined && children?.(data)}
  </>
)

/** Shows children if the token has the scope; otherwise how to get one. */
export const NeedsScope = ({
  scope,
  to,
  children,
}: {
  scope: GrantedScope
  to: string
  children: ComponentChildren
}) => (
  <Await asked={useAccount()} failed="The account cannot be read" busy="Reading what your token may do" quiet>
    {({ account, token: { scopes } }) =>
      scopes.includes(scope) ? (
        children
      ) : (
        <Empty title={`Your token lacks the scope ${scope}`}>
          <p>{say`You need the scope ${<code>{scope}</code>} to ${to}. Your token has: ${scopes.join(', ')}.`}</p>
          <p>The operator of the server creates a token that may:</p>
          <CreateToken account={account} scopes={TOKEN_SCOPES.filter(it => it === scope || scopes.includes(it))} />
          <p>Then sign out, and sign in with it.</p>
        </Empty>
      )
    }
  </Await>
)

export const CreateToken = ({ account, scopes }: { account: string; scopes: readonly GrantedScope[] }) => (
  <ShellCommand
    parts={['chainsieve', 'token', 'create', '--account', account, ...scopes.flatMap(it => ['--scope', it])]}
  />
)
