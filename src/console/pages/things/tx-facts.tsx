import { at, type JsonObject, textAt } from '../../api/json.ts'
import { Amount } from '../../parts/amount.tsx'
import { Hash } from '../../parts/hash.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { AddressLink } from './address-link.tsx'
import { BlockLink } from './columns.tsx'
import { Coins, Fact, Facts, Gwei } from './facts.tsx'
import { listAt, numberAt, timeOf, unitsAt } from './read.ts'

export const TxFacts = ({ network, source }: { network: string; source: JsonObject }) => {
  const text = (path: string) => textAt(source, path)
  const time = timeOf(source)
  const created = text('contractAddress')
  return (
    <Facts>
      <Fact name="Result">
        <Result network={network} source={source} />
      </Fact>
      <Fact name="Hash">
        <Hash value={text('hash') ?? ''} />
      </Fact>
      <Fact name="Block">
        <BlockLink network={network} number={numberAt(source, 'blockNumber.num')} />
        <span class="dim">, place {numberAt(source, 'transactionIndex.num')}</span>
      </Fact>
      <Fact name="Time">{time !== undefined && <Time value={time} />}</Fact>
      <Fact name="From">
        <AddressLink network={network} value={text('from')} />{' '}
        <span class="dim">nonce {numberAt(source, 'nonce.num')}</span>
      </Fact>
      <Fact name="To">
        {text('to') !== undefined ? (
          <AddressLink network={network} value={text('to')} />
        ) : (
          <>
            <span class="dim">a new contract </span>
            {created && <AddressLink network={network} value={created} />}
          </>
        )}
      </Fact>
      <Fact name="Function">{text('method') && <Text value={text('method')!} most={120} />}</Fact>
      <Fact name="Value">
        <Coins network={network} value={unitsAt(source, 'value') ?? 0n} />
      </Fact>
      <Fees network={network} source={source} />
      <Fact name="Access list">{countOf(source, 'accessList', 'entries')}</Fact>
      <Fact name="Blobs">{countOf(source, 'blobVersionedHashes', 'blobs')}</Fact>
      <Fact name="Accounts that set their code">
        {listAt(source, 'authorizationList').length > 0 && <Authorizations network={network} source={source} />}
      </Fact>
    </Facts>
  )
}

const countOf = (source: JsonObject, path: string, what: string) => {
  const { length } = listAt(source, path)
  return length > 0 && `${length.toLocaleString()} ${what}`
}

const Result = ({ network, source }: { network: string; source: JsonObject }) => {
  const status = at(source, 'status')
  if (status !== false) return status === true ? <span class="good">Succeeded</span> : <span class="dim">Not told</span>
  const [error, address] = [textAt(source, 'error'), textAt(source, 'revertAddress')]
  return (
    <span class="bad">
      <strong>Failed</strong>
      {error && (
        <>
          : <Text value={error} />
        </>
      )}
      {address && (
        <>
          {' '}
          in <AddressLink network={network} value={address} />
        </>
      )}
    </span>
  )
}

const Authorizations = ({ network, source }: { network: string; source: JsonObject }) => (
  <ul class="plain">
    {listAt(source, 'authorizationList').map((it, i) => (
      <li key={i}>
        to that of <AddressLink network={network} value={textAt(it, 'address')} />
      </li>
    ))}
  </ul>
)

const Fees = ({ network, source }: { network: string; source: JsonObject }) => {
  const units = (path: string) => unitsAt(source, path)
  const [used, limit] = [units('gasUsed'), units('gas')]
  const paid = units('effectiveGasPrice') ?? units('gasPrice')
  const most = units('maxFeePerGas')
  const tip = units('maxPriorityFeePerGas')
  return (
    <>
      <Fact name="Fee">
        {used !== undefined && paid !== undefined && <Coins network={network} value={used * paid} />}
      </Fact>
      <Fact name="Gas">
        {used !== undefined && (
          <>
            <Amount value={used} />
            {limit !== undefined && (
              <span class="dim">
                {' '}
                of <Amount value={limit} />
              </span>
            )}
          </>
        )}
      </Fact>
      <Fact name="Gas price">
        {paid !== undefined && (
          <>
            <Gwei value={paid} />
            {most !== undefined && (
              <span class="dim">
                {' '}
                at most <Gwei value={most} />
                {tip !== undefined && (
                  <>
                    , to the builder at most <Gwei value={tip} />
                  </>
                )}
              </span>
            )}
          </>
        )}
      </Fact>
      <Fact name="Type">{TYPES[numberAt(source, 'type.num') ?? -1] ?? numberAt(source, 'type.num')}</Fact>
    </>
  )
}

const TYPES: Record<number, string> = {
  0: '0, legacy',
  1: '1, with an access list (EIP-2930)',
  2: '2, with a priority fee (EIP-1559)',
  3: '3, with blobs (EIP-4844)',
  4: '4, sets code (EIP-7702)',
}
