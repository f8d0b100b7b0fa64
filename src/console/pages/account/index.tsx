import { useState } from 'preact/hooks'
import { type Account as AccountAnswer, getAccount, SCOPES, type Scope } from '../../api/account.ts'
import { useAsk } from '../../api/ask.ts'
import { Busy, Fault } from '../../parts/answer.tsx'
import { Field } from '../../parts/controls.tsx'
import { PlainTable } from '../../parts/table.tsx'
import { Command, Text, Time } from '../../parts/text.tsx'

const MEANINGS: Readonly<Record<Scope, string>> = {
  search: 'search all networks',
  rules: 'see and change the alert rules of this account, and their deliveries',
  admin: 'add and remove ABIs, decode stored blocks again, see what takes room on the disk, read metrics',
}

/** What the token may do, and the limits that hold for it. */
const Account = () => {
  const { data, error, again } = useAsk('account', getAccount)
  return (
    <>
      <h1>Account</h1>
      {error !== undefined && <Fault title="The account cannot be read" error={error} again={again} />}
      {!data && error === undefined && <Busy label="Reading the account" />}
      {data && <Shown account={data} />}
    </>
  )
}

export default Account

const Shown = ({ account: { account, token, limits, server } }: { account: AccountAnswer }) => (
  <>
    <dl class="facts">
      <div>
        <dt>Account</dt>
        <dd>
          <Text value={account} />
        </dd>
      </div>
      <div>
        <dt>Token</dt>
        <dd>
          number {token.id}
          {token.hint !== null && (
            <>
              , begins with <code>{token.hint}</code>
            </>
          )}
        </dd>
      </div>
      {token.createdAt !== null && (
        <div>
          <dt>Created</dt>
          <dd>
            <Time value={token.createdAt} />
          </dd>
        </div>
      )}
      <div>
        <dt>Expires</dt>
        <dd>{token.expiresAt === null ? 'never' : <Time value={token.expiresAt} due />}</dd>
      </div>
      <div>
        <dt>Server</dt>
        <dd>Chainsieve {server.version}</dd>
      </div>
    </dl>
    <h2>What this token may do</h2>
    <ul class="scopes">
      {SCOPES.map(scope => {
        const has = token.scopes.includes(scope)
        return (
          <li key={scope}>
            <strong class={has ? 'good' : 'dim'}>{has ? 'yes' : 'no'}</strong> <code>{scope}</code>: {MEANINGS[scope]}
          </li>
        )
      })}
    </ul>
    {token.scopes.length < SCOPES.length && (
      <>
        <p>The operator of the server creates a token with all scopes by</p>
        <Command
          parts={['chainsieve', 'token', 'create', '--account', account, ...SCOPES.flatMap(it => ['--scope', it])]}
        />
      </>
    )}
    <h2>Networks</h2>
    <PlainTable
      label="Networks"
      columns={[
        { title: 'Network', cell: ({ network }) => network },
        { title: 'New blocks', cell: ({ indexed }) => (indexed ? 'come from a node' : 'no node brings them') },
        { title: 'Traces', cell: ({ traces }) => traces ?? 'as they were stored' },
      ]}
      rows={server.networks}
      keyOf={({ network }) => network}
    />
    <Limits limits={limits} />
  </>
)

const Limits = ({ limits }: { limits: Record<string, number> }) => {
  const [wanted, setWanted] = useState('')
  const rows = Object.entries(limits).filter(([name]) => name.toLowerCase().includes(wanted.trim().toLowerCase()))
  return (
    <div class="limits">
      <h2>Limits</h2>
      <p class="dim">
        The operator changes a limit by <code>--limit NAME=N</code>. The page of settings in the documentation tells
        what each means.
      </p>
      <Field label="Find a limit">
        {field => (
          <input
            {...field}
            type="search"
            data-search
            spellcheck={false}
            value={wanted}
            onInput={event => setWanted(event.currentTarget.value)}
          />
        )}
      </Field>
      <PlainTable
        label="Limits"
        columns={[
          { title: 'Name', cell: ([name]) => <code>{name}</code> },
          { title: 'At most', align: 'right', cell: ([, most]) => most.toLocaleString() },
        ]}
        rows={rows}
        keyOf={([name]) => name}
      />
    </div>
  )
}
