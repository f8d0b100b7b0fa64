import { useAddress } from '../../browser/router.tsx'
import { NeedsScope } from '../../parts/answer.tsx'
import type { PageProps } from '../../routes.ts'
import { Edit, New } from './editor.tsx'
import { RuleList } from './list.tsx'
import { WatchListsPage } from './lists.tsx'
import { RulePageAnswer } from './rule.tsx'

const shownAt = (path: string, { id, list }: { id?: string | undefined; list?: string | undefined }) => {
  if (path.startsWith('/rules/lists')) return <WatchListsPage open={list} />
  if (id === undefined) return path.startsWith('/rules/new') ? <New /> : <RuleList />
  return path.endsWith('/edit') ? <Edit key={id} id={id} /> : <RulePageAnswer key={id} id={id} />
}

export default ({ parameters }: PageProps) => (
  <div class="rules">
    <NeedsScope scope="rules" to="see and change rules">
      {shownAt(useAddress().path, { id: parameters.get('id'), list: parameters.get('list') })}
    </NeedsScope>
  </div>
)
