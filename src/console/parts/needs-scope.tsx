import type { ComponentChildren } from 'preact'
import { getAccount, SCOPES, type Scope } from '../api/account.ts'
import { useAsk } from '../api/use-ask.ts'
import { Command } from './command.tsx'
import { Empty } from './empty.tsx'
import { Fault } from './fault.tsx'
import { Busy } from './progress.tsx'

interface Props {
  scope: Scope
  /** What the scope is needed for, such as `see and change ABIs`. */
  to: string
  children: ComponentChildren
}

/** What is in it asks for a scope: a token that lacks it is told so, and how to get one. */
export const NeedsScope = ({ scope, to, children }: Props) => {
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
