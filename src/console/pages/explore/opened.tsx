import { useState } from 'preact/hooks'
import { getDocument } from '../../api/index.ts'
import { isObject, type Json, toJson } from '../../api/json.ts'
import { useAsk } from '../../api/use-ask.ts'
import { Fault } from '../../parts/fault.tsx'
import { Hash } from '../../parts/hash.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Text } from '../../parts/text.tsx'
import { useKey } from '../../shell/keys.ts'

/** One hit with all of its fields. */
export const Opened = ({
  network,
  kind,
  id,
  onClose,
}: {
  network: string
  kind: string
  id: string
  onClose(): void
}) => {
  const { data, error, again } = useAsk(`${network} ${kind} ${id}`, signal => getDocument(network, kind, id, signal))
  const [tab, setTab] = useState<'fields' | 'json'>('fields')
  useKey('Escape', 'Closes the hit', onClose)
  const isShown = data?._id === id
  return (
    <aside class="opened" aria-label="The open hit">
      <header>
        <h2>
          {kind} <Hash value={id} />
        </h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </header>
      {error !== undefined && <Fault error={error} again={again} />}
      {!isShown && error === undefined && <Busy label="Reading the document" />}
      {isShown && (
        <Tabs label="How it is shown" tabs={TABS} current={tab} onChange={name => setTab(name)}>
          {tab === 'fields' ? <Fields source={data._source} /> : <JsonView value={data._source} label="The document" />}
        </Tabs>
      )}
    </aside>
  )
}

const TABS = [
  { name: 'fields', title: 'Fields' },
  { name: 'json', title: 'JSON' },
] as const

const Fields = ({ source }: { source: Json }) => (
  <dl class="fields">
    {leavesOf(source, '').flatMap(([path, value]) => [
      <dt key={path}>{path}</dt>,
      <dd key={`${path} value`}>
        <Text value={typeof value === 'string' ? value : toJson(value)} />
      </dd>,
    ])}
  </dl>
)

/** The values by their path; a list is one value. */
const leavesOf = (value: Json, path: string): [path: string, value: Json][] =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, path === '' ? name : `${path}.${name}`))
    : [[path, value]]
