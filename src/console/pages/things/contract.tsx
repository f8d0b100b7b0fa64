import { useContext } from 'preact/hooks'
import { useGet } from '../../api/ask.ts'
import { type JsonObject, listAt, textAt } from '../../api/json.ts'
import type { KnownAbi, SearchAnswer, SearchHit } from '../../api/wire.ts'
import { Await } from '../../parts/answer.tsx'
import { dim, Facts, Hash, NetworkContext, RoomContext, say, Time } from '../../parts/text.tsx'
import { allOf, hitsOf, type MultiSearchItem, NEWEST, term, useSearches } from './ask.ts'
import { OverTime } from './over-time.tsx'
import { Section, type ThingProps } from './page.tsx'
import { numberAt, timestampOf } from './read.ts'
import { AddressLink, briefOf, ifPresent, inBlock, optionalText } from './values.tsx'

type ContractProps = ThingProps & { contract: JsonObject }

/** Code, ABI and proxy of a contract. */
export const Contract = ({ id, contract }: ContractProps) => {
  const network = useContext(NetworkContext)
  const used = useSearches(useOf(id))
  const abi = useGet<KnownAbi>(`${network}/abi/${id}`)
  const similar = useGet<SearchAnswer>(`${network}/es/contract/${id}/similar/?size=10`)
  return (
    <div class="contract">
      <Section title="Code">
        <Facts class="thing-facts" of={codeOf(contract)} />
      </Section>
      <Section title="ABI">
        <Await asked={abi} failed="The ABI cannot be read" busy="Reading the ABI">
          {data => <HowKnown abi={data} />}
        </Await>
      </Section>
      <Passing id={id} contract={contract} used={used.data} now={abi.data?.implementations ?? []} />
      <Await asked={used} failed="Its proxies and upgrades cannot be read" />
      <Section title="Similar contracts">
        <Await asked={similar} failed="They cannot be read" busy="Comparing codes">
          {answer => <Similar hits={hitsOf(answer)} />}
        </Await>
      </Section>
    </div>
  )
}

const MAX_LISTED = 50
const UPGRADES = ['Upgraded', 'BeaconUpgraded', 'ChangedMasterCopy', 'DiamondCut']

const useOf = (id: string): MultiSearchItem[] => {
  const upgrades = allOf(term('address', id), { terms: { 'event.raw': UPGRADES } })
  return [
    { kinds: ['event'], body: { query: upgrades, sort: NEWEST, size: MAX_LISTED } },
    {
      kinds: ['contract'],
      body: { query: term('implementation', id), sort: NEWEST, size: MAX_LISTED, _source: ['address', 'standard'] },
    },
  ]
}

const codeOf = (contract: JsonObject) => {
  const selectors = listAt(contract, 'selectors')
  const hash = textAt(contract, 'codeHash')
  return {
    Hash: hash === undefined ? <span class="dim">not known</span> : <Hash value={hash} />,
    Standard: ifPresent(textAt(contract, 'standard') || undefined, standard => {
      return say`${optionalText(standard)} ${dim`${STANDARD_SOURCES[textAt(contract, 'standardSource') ?? '']}`}`
    }),
    Methods: selectors.length > 0 && (
      <details>
        <summary>{selectors.length.toLocaleString()} by selector</summary>
        <code class="bytes">{selectors.join(' ')}</code>
      </details>
    ),
  }
}

const STANDARD_SOURCES: Record<string, string> = {
  selectors: 'by the methods in its code',
  bytecode: 'by its bytecode',
}

const SOURCES: Record<string, string> = {
  address: 'By an ABI for this address.',
  codeHash: 'By an ABI for its code.',
  implementation: 'By an ABI of its implementation.',
  similar: 'By an ABI of a contract with similar code.',
  signatures: 'By signatures alone: those of the bundled registry, and of ABIs for any contract.',
}

const ADDED: Record<string, string> = {
  address: 'the address',
  codeHash: 'the code',
  implementation: 'the implementation',
  any: 'any contract',
}

const HowKnown = ({ abi: { source, probability, abis } }: { abi: KnownAbi }) => (
  <>
    <p>
      {SOURCES[source ?? ''] ?? 'Its methods and events are not known.'}
      {probability !== null && dim` ${Math.round(probability * 100)} % sure.`}
    </p>
    <ul class="plain">
      {abis.map(({ id, name, functions, events, errors, source, of }) => (
        <li key={`${id} ${of}`}>
          <strong>{briefOf(name ?? id, 80)}</strong>{' '}
          {dim`${functions} methods, ${events} events, ${errors} errors; added for ${ADDED[source] ?? source} `}
          {of !== null && <Hash value={of} kind={source === 'codeHash' ? undefined : 'address'} />}
        </li>
      ))}
    </ul>
  </>
)

type PassingProps = ContractProps & {
  used: readonly SearchAnswer[] | undefined
  now: KnownAbi['implementations']
}

/** Implementations of a proxy, and proxies of this contract. */
const Passing = ({ id, contract, used: [upgrades, proxies] = [], now }: PassingProps) => {
  const first = textAt(contract, 'implementation')
  const [upgraded, created] = [hitsOf(upgrades), hitsOf(proxies)]
  const isProxy = first !== undefined || now.length > 0 || upgraded.length > 0
  if (!isProxy && created.length === 0) return null
  const passed = now.map(({ address, through }) => (
    <li key={`${address} ${through}`}>
      <AddressLink value={address} />
      {through !== null &&
        through.toLowerCase() !== id.toLowerCase() &&
        dim` through ${<AddressLink value={through} />}`}
    </li>
  ))
  const facts = {
    Implementation: now.length > 0 && <ul class="plain">{passed}</ul>,
    'First implementation': first && <AddressLink value={first} />,
    Upgrades: upgraded.length > 0 && (
      <ul class="plain">
        {upgraded.map(hit => (
          <Upgrade key={hit._id} hit={hit} />
        ))}
      </ul>
    ),
    'Proxies of it': created.length > 0 && (
      <>
        <ul class="plain">
          {created.map(({ _id, _source }) => (
            <li key={_id}>
              <AddressLink value={textAt(_source, 'address')} />
            </li>
          ))}
        </ul>
        {proxies!.hits.total > created.length && (
          <p>{dim`The newest ${created.length} of ${proxies!.hits.total.toLocaleString()}.`}</p>
        )}
      </>
    ),
  }
  return (
    <Section name="Proxy" title={isProxy ? 'Proxy' : 'Implementation'}>
      <Facts class="thing-facts" of={facts} />
    </Section>
  )
}

const Upgrade = ({ hit: { _source } }: { hit: SearchHit }) => (
  <li>
    {ifPresent(timestampOf(_source), time => (
      <Time value={time} brief />
    ))}{' '}
    {inBlock(_source)}{' '}
    {listAt(_source, 'args')
      .filter(argument => textAt(argument, 'value.type') === 'address')
      .map((argument, i) => (
        <AddressLink key={i} value={textAt(argument, 'value.hex')} />
      ))}
    <RoomContext.Provider value={false}>
      <Hash value={textAt(_source, 'transactionHash') ?? ''} kind="tx" />
    </RoomContext.Provider>
  </li>
)

export const ContractActivity = ({ id }: ThingProps) => {
  const calls = { kinds: ['call'], query: term('to', id) } as const
  const failed = allOf(calls.query, term('reverted', true))
  return (
    <div class="dashboard">
      <OverTime {...calls} title="Calls by method" by="method.raw" />
      <OverTime {...calls} title="Calls by caller" by="from.raw" />
      <OverTime {...calls} title="Failed calls by method" query={failed} by="method.raw" />
      <OverTime title="Events" kinds={['event']} query={term('address', id)} by="event.raw" />
    </div>
  )
}

const Similar = ({ hits }: { hits: readonly SearchHit[] }) =>
  hits.length === 0 ? (
    <p class="dim">No stored contract has similar code.</p>
  ) : (
    <ul class="counts">
      {hits.map(hit => (
        <li key={hit._id}>
          <AddressLink value={textAt(hit._source, 'address')} />{' '}
          <span>
            {Math.floor((numberAt(hit as unknown as JsonObject, '_score') ?? 0) * 1000) / 10} % of the code alike
            <span class="dim"> {briefOf(textAt(hit._source, 'standard'))}</span>
          </span>
        </li>
      ))}
    </ul>
  )
