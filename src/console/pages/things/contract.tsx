import { type Asked, useAsk } from '../../api/ask.ts'
import { ask } from '../../api/client.ts'
import { type JsonObject, textAt } from '../../api/json.ts'
import type { SearchAnswer } from '../../api/wire.ts'
import { Busy, Fault } from '../../parts/answer.tsx'
import { Hash, Text, Time } from '../../parts/text.tsx'
import { all, hitsOf, NEWEST, type Search, term, useSearches } from './ask.ts'
import type { ThingProps } from './page.tsx'
import { bucketsOf, listAt, numberAt, timeOf } from './read.ts'
import { AddressLink, BlockLink, Fact, Facts } from './values.tsx'

type ContractProps = ThingProps & { contract: JsonObject }

/** What a contract is, and how its functions and events are known. */
export const Contract = (props: ContractProps) => {
  const { network, id } = props
  const used = useSearches(network, useOf(id))
  const abi = useAsk(`abi ${network} ${id}`, signal => ask<KnownAbi>(`${network}/abi/${id}`, { signal }))
  return (
    <div class="contract">
      <Code {...props} />
      <HowKnown network={network} abi={abi} />
      <Passing {...props} used={used.data} abi={abi.data} />
      {used.error !== undefined && <Fault title="What it did cannot be read" error={used.error} again={used.again} />}
      <Used used={used.data} />
      <Similar {...props} />
    </div>
  )
}

const MOST = 50
const UPGRADES = ['Upgraded', 'BeaconUpgraded', 'ChangedMasterCopy', 'DiamondCut']

const useOf = (id: string): Search[] => {
  const terms = (field: string) => ({ names: { terms: { field, size: MOST } } })
  return [
    { kinds: ['call'], body: { query: term('to', id), size: 0, aggs: terms('method.raw') } },
    { kinds: ['event'], body: { query: term('address', id), size: 0, aggs: terms('event.raw') } },
    {
      kinds: ['event'],
      body: { query: all(term('address', id), { terms: { 'event.raw': UPGRADES } }), sort: NEWEST, size: MOST },
    },
    {
      kinds: ['contract'],
      body: { query: term('implementation', id), sort: NEWEST, size: MOST, _source: ['address', 'standard'] },
    },
  ]
}

const Code = ({ contract }: ContractProps) => {
  const hash = textAt(contract, 'codeHash')
  const selectors = listAt(contract, 'selectors')
  return (
    <section aria-label="Code">
      <h2>Code</h2>
      <Facts>
        <Fact name="Hash">{hash === undefined ? <span class="dim">not known</span> : <Hash value={hash} />}</Fact>
        <Fact name="Standard">
          {textAt(contract, 'standard') && (
            <>
              <Text value={textAt(contract, 'standard')!} most={60} />{' '}
              <span class="dim">{STANDARD_SOURCES[textAt(contract, 'standardSource') ?? '']}</span>
            </>
          )}
        </Fact>
        <Fact name="Functions">
          {selectors.length > 0 && (
            <details>
              <summary>{selectors.length.toLocaleString()} by selector</summary>
              <code class="bytes">{selectors.join(' ')}</code>
            </details>
          )}
        </Fact>
      </Facts>
    </section>
  )
}

const STANDARD_SOURCES: Record<string, string> = {
  selectors: 'by the functions of its code',
  bytecode: 'by its bytecode',
}

const SOURCES: Record<string, string> = {
  address: 'By an ABI that was added for this address.',
  codeHash: 'By an ABI that was added for its code.',
  implementation: 'By an ABI of the contract that it passes its calls on to.',
  similar: 'By an ABI of a contract with similar code.',
  signatures: 'By signatures alone: those of the bundled registry, and of ABIs for any contract.',
}

const HowKnown = ({ network, abi: { data, error, again } }: { network: string; abi: Asked<KnownAbi> }) => {
  return (
    <section aria-label="ABI">
      <h2>ABI</h2>
      {error !== undefined && <Fault title="The ABI cannot be read" error={error} again={again} />}
      {!data && error === undefined && <Busy label="Reading the ABI" />}
      {data && (
        <>
          <p>
            {SOURCES[data.source ?? ''] ?? 'Nothing is known of its functions and events.'}
            {data.probability !== null && <span class="dim"> {Math.round(data.probability * 100)} % sure.</span>}
          </p>
          <ul class="plain">
            {data.abis.map(abi => (
              <li key={`${abi.id} ${abi.of}`}>
                <strong>
                  <Text value={abi.name ?? abi.id} most={80} brief />
                </strong>{' '}
                <span class="dim">
                  {abi.functions} functions, {abi.events} events, {abi.errors} errors; added for{' '}
                  {ADDED[abi.source] ?? abi.source}{' '}
                </span>
                {abi.of !== null && (
                  <Hash value={abi.of} {...(abi.source !== 'codeHash' && { kind: 'address', network })} />
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

const ADDED: Record<string, string> = {
  address: 'the address',
  codeHash: 'the code',
  implementation: 'the implementation',
  any: 'any contract',
}

const Used = ({ used }: { used: readonly SearchAnswer[] | undefined }) => {
  if (!used) return <Busy label="Counting functions and events" />
  const [calls, events] = used
  return (
    <div class="columns">
      <Names title="Called functions" answer={calls!} />
      <Names title="Emitted events" answer={events!} />
    </div>
  )
}

const Names = ({ title, answer }: { title: string; answer: SearchAnswer }) => {
  const buckets = bucketsOf(answer.aggregations, 'names')
  const named = buckets.reduce((sum, bucket) => sum + bucket.count, 0)
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul class="counts">
        {buckets.map(({ key, count: times }) => (
          <li key={key}>
            <Text value={key} most={60} brief /> <span>{times.toLocaleString()}</span>
          </li>
        ))}
        {answer.hits.total > named && (
          <li>
            <span class="dim">others, or without a known name</span>{' '}
            <span>{(answer.hits.total - named).toLocaleString()}</span>
          </li>
        )}
        {answer.hits.total === 0 && <li class="dim">none</li>}
      </ul>
    </section>
  )
}

const Similar = ({ network, id }: ContractProps) => {
  const found = useAsk(`similar ${network} ${id}`, signal =>
    ask<SearchAnswer>(`${network}/es/contract/${id}/similar/?size=10`, { signal }),
  )
  return (
    <section aria-label="Similar contracts">
      <h2>Similar contracts</h2>
      {found.error !== undefined && <Fault title="They cannot be read" error={found.error} again={found.again} />}
      {!found.data && found.error === undefined && <Busy label="Comparing codes" />}
      {found.data?.hits.hits.length === 0 && <p class="dim">No contract that is held has similar code.</p>}
      <ul class="counts">
        {hitsOf(found.data).map(hit => (
          <li key={hit._id}>
            <AddressLink network={network} value={textAt(hit._source, 'address')} />{' '}
            <span>
              {Math.floor((numberAt(hit as unknown as JsonObject, '_score') ?? 0) * 1000) / 10} % of the code alike
              <span class="dim">
                {' '}
                <Text value={textAt(hit._source, 'standard') ?? ''} most={60} brief />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

type ProxyProps = ThingProps & { contract: JsonObject } & {
  used: readonly SearchAnswer[] | undefined
  abi: KnownAbi | undefined
}

/** Where a proxy passes its calls on to, and which proxies pass theirs on to this contract. */
export const Passing = ({ network, id, contract, used, abi }: ProxyProps) => {
  const first = textAt(contract, 'implementation')
  const [, , upgrades, proxies] = used ?? []
  const now = abi?.implementations ?? []
  const isProxy = first !== undefined || now.length > 0 || hitsOf(upgrades).length > 0
  if (!isProxy && hitsOf(proxies).length === 0) return null
  return (
    <section aria-label="Proxy">
      <h2>{isProxy ? 'Proxy' : 'Implementation'}</h2>
      <Facts>
        <Fact name="Passes its calls on to">
          {now.length > 0 && (
            <ul class="plain">
              {now.map(({ address, through }) => (
                <li key={`${address} ${through}`}>
                  <AddressLink network={network} value={address} />
                  {through.toLowerCase() !== id.toLowerCase() && (
                    <span class="dim">
                      {' '}
                      through <AddressLink network={network} value={through} />
                    </span>
                  )}
                </li>
              ))}
            </ul>
          )}
        </Fact>
        <Fact name="When it was created, to">{first && <AddressLink network={network} value={first} />}</Fact>
        <Fact name="Upgrades">{hitsOf(upgrades).length > 0 && <Upgrades network={network} answer={upgrades!} />}</Fact>
        <Fact name="Proxies that were created with it">
          {hitsOf(proxies).length > 0 && <Proxies network={network} answer={proxies!} />}
        </Fact>
      </Facts>
    </section>
  )
}

const Upgrades = ({ network, answer }: { network: string; answer: SearchAnswer }) => (
  <ul class="plain">
    {hitsOf(answer).map(({ _id, _source }) => (
      <li key={_id}>
        {timeOf(_source) !== undefined && <Time value={timeOf(_source)!} brief />} <span class="dim">block</span>{' '}
        <BlockLink network={network} number={numberAt(_source, 'blockNumber.num')} />{' '}
        {listAt(_source, 'args')
          .filter(argument => textAt(argument, 'value.type') === 'address')
          .map((argument, i) => (
            <AddressLink key={i} network={network} value={textAt(argument, 'value.hex')} />
          ))}
        <Hash value={textAt(_source, 'transactionHash') ?? ''} kind="tx" network={network} />
      </li>
    ))}
  </ul>
)

const Proxies = ({ network, answer }: { network: string; answer: SearchAnswer }) => (
  <>
    <ul class="plain">
      {hitsOf(answer).map(({ _id, _source }) => (
        <li key={_id}>
          <AddressLink network={network} value={textAt(_source, 'address')} />
        </li>
      ))}
    </ul>
    {answer.hits.total > hitsOf(answer).length && (
      <p class="dim">
        The newest {hitsOf(answer).length} of {answer.hits.total.toLocaleString()}.
      </p>
    )}
  </>
)

/** The answer of `GET …/abi/{address}`. */
export interface KnownAbi {
  source: string | null
  name: string | null
  probability: number | null
  implementations: { address: string; codeHash: string | null; through: string }[]
  abis: {
    id: string
    name: string | null
    source: string
    of: string | null
    events: number
    functions: number
    errors: number
  }[]
}
