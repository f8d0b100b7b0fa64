import { NeedsScope } from '../../parts/needs-scope.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { setQuery, useQueryState } from '../../shell/router.tsx'
import { Deliveries } from './deliveries.tsx'
import { Networks } from './networks.tsx'
import { Storage } from './storage.tsx'

const VIEWS = [
  { name: 'networks', title: 'Networks' },
  { name: 'deliveries', title: 'Deliveries' },
  { name: 'storage', title: 'Disk' },
] as const

/** How the service is. */
const Status = () => {
  const [asked] = useQueryState('view', 'networks')
  const view = VIEWS.find(({ name }) => name === asked)?.name ?? 'networks'
  return (
    <>
      <h1>Status</h1>
      <Tabs label="Parts of the service" tabs={VIEWS} current={view} onChange={name => setQuery(onlyView(name))}>
        {view === 'networks' && <Networks />}
        {view === 'deliveries' && (
          <NeedsScope scope="rules" to="see the deliveries of your rules">
            <Deliveries />
          </NeedsScope>
        )}
        {view === 'storage' && (
          <NeedsScope scope="admin" to="see what takes room on the disk">
            <Storage />
          </NeedsScope>
        )}
      </Tabs>
    </>
  )
}

export default Status

/** What one view puts into the address means nothing to another. */
const onlyView = (view: string) => ({ view: view === 'networks' ? '' : view, channel: '', target: '', state: '' })
