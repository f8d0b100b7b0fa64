import { useState } from 'preact/hooks'
import { useGet } from '../../api/ask.ts'
import { type GrantedScope, type SignedInAccount, TOKEN_SCOPES } from '../../api/wire.ts'
import { Await, CreateToken } from '../../parts/answer.tsx'
import { TextField } from '../../parts/controls.tsx'
import { type Column, PlainTable } from '../../parts/table.tsx'
import { Facts, PageHead, Text, Time } from '../../parts/text.tsx'

const MEANINGS: Readonly<Record<GrantedScope, string>> = {
  search: 'search all networks',
  rules: 'see and change the alert rules of this account, and their deliveries',
  admin: 'add and remove ABIs, decode stored blocks again, see what takes room on the disk, read metrics',
}

/** Scopes and limits of the token. */
export default () => (
  <>
    <PageHead title="Account" />
    <Await asked={useGet<SignedInAccount>('account')} failed="The account cannot be read" busy="Reading the account">
      {account => <AccountFacts account={account} />}
    </Await>
  </>
)

const AccountFacts = ({ account: { account, token, limits, server } }: { account: SignedInAccount }) => {
  const facts = {
    Account: <Text value={account} />,
    Token: (
      <>
        number {token.id}
        {token.hint !== null && ', begins with '}
        {token.hint !== null && <code>{token.hint}</code>}
      </>
    ),
    Created: token.createdAt !== null && <Time value={token.createdAt} />,
    Expires: token.expiresAt === null ? 'never' : <Time value={token.expiresAt} due />,
    Server: `Chainsieve ${server.version}`,
  }
  return (
    <>
      <Facts of={facts} />
      <h2>What this token may do</h2>
      <ul class="scopes">
        {TOKEN_SCOPES.map(scope => {
          const has = token.scopes.includes(scope)
          return (
            <li key={scope}>
              <strong class={has ? 'good' : 'dim'}>{has ? 'yes' : 'no'}</strong> <code>{scope}</code>: {MEANINGS[scope]}
            </li>
          )
        })}
      </ul>
      {token.scopes.length < TOKEN_SCOPES.length && (
        <>
          <p>The operator of the server creates a token with all scopes by</p>
          <CreateToken account={account} scopes={TOKEN_SCOPES} />
        </>
      )}
      <h2>Networks</h2>
      <PlainTable label="Networks" columns={NETWORKS} rows={server.networks} keyOf={({ network }) => network} />
      <Limits limits={limits} />
    </>
  )
}

const NETWORKS: readonly Column<SignedInAccount['server']['networks'][number]>[] = [
  { title: 'Network', cell: ({ network }) => network },
  { title: 'New blocks', cell: ({ indexed }) => (indexed ? 'come from a node' : 'no node brings them') },
  { title: 'Traces', cell: ({ traces }) => traces ?? 'as they were stored' },
]

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
      <TextField type="search" label="Find a limit" value={wanted} onInput={setWanted} />
      <PlainTable label="Limits" columns={LIMITS} rows={rows} keyOf={([name]) => name} />
    </div>
  )
}

const LIMITS: readonly Column<[name: string, most: number]>[] = [
  { title: 'Name', cell: ([name]) => <code>{name}</code> },
  { title: 'At most', align: 'right', cell: ([, most]) => most.toLocaleString() },
]
