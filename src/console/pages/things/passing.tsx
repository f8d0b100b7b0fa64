import { type JsonObject, textAt } from '../../api/json.ts'
import type { SearchAnswer } from '../../api/wire.ts'
import { Hash } from '../../parts/hash.tsx'
import { Time } from '../../parts/time.tsx'
import type { KnownAbi } from './abi.ts'
import { AddressLink } from './address-link.tsx'
import { hitsOf } from './ask.ts'
import { BlockLink } from './columns.tsx'
import { Fact, Facts } from './facts.tsx'
import type { ThingProps } from './page.tsx'
import { listAt, numberAt, timeOf } from './read.ts'

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
