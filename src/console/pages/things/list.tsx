import type { ComponentChildren } from 'preact'
import type { JsonObject } from '../../api/json.ts'
import type { Hit, Kind } from '../../api/wire.ts'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { Busy } from '../../parts/progress.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { navigate } from '../../shell/router.tsx'
import { hrefOf } from '../../things.ts'
import { NEWEST } from './ask.ts'
import { useList } from './use-list.ts'

interface Props {
  network: string
  label: string
  kinds: readonly Kind[]
  query: JsonObject
  columns: readonly Column<Hit>[]
  /** What a document is asked for. */
  fields: readonly string[]
  sort?: readonly JsonObject[]
  /** In place of an empty list. */
  none: ComponentChildren
  /** Where a row leads by a click or Enter: its transaction by default. */
  thingOf?(hit: Hit): { kind: string; id: string }
}

const transactionOf = ({ _type, _id, _source }: Hit) => ({
  kind: 'tx',
  id: _type === 'tx' ? _id : String(_source.transactionHash),
})

/** A list without an end. */
export const List = (props: Props) => {
  const { network, label, kinds, query, columns, fields, sort = NEWEST, none, thingOf = transactionOf } = props
  const found = useList(network, kinds, query, { sort: [...sort], _source: [...fields] })
  if (found.error !== undefined)
    return <Fault title={`${label} cannot be read`} error={found.error} again={found.again} />
  if (found.data === undefined) return <Busy label={`Reading ${label.toLowerCase()}`} />
  if (found.total === 0) return <Empty title={`${label}: none`}>{none}</Empty>
  return (
    <>
      {found.moreError !== undefined && <Fault title="The rest cannot be read" error={found.moreError} />}
      <Table
        label={label}
        columns={columns}
        rows={found.hits}
        keyOf={({ _type, _id }) => `${_type} ${_id}`}
        onOpen={hit => {
          const { kind, id } = thingOf(hit)
          const href = hrefOf(network, kind, id)
          if (href !== undefined) navigate(href)
        }}
        onEnd={found.askMore}
      />
    </>
  )
}
