import { useAddress } from '../../browser/router.tsx'
import { NeedsScope } from '../../parts/answer.tsx'
import type { PageProps } from '../../routes.ts'
import { Edit, New } from './editor.tsx'
import { RuleList } from './list.tsx'
import { WatchListsPage } from './lists.tsx'
import { RulePageAnswer } from './rule.tsx'
import { SilencesPage } from './silences.tsx'

const shownAt = (path: string, parameters: PageProps['parameters']) => {
  if (path.startsWith('/rules/lists')) return <WatchListsPage open={parameters.get('list')} />
  if (path.startsWith('/rules/silences')) return <SilencesPage open={parameters.get('silence')} />
  const id = parameters.get('id')
  if (id === undefined) return path.startsWith('/rules/new') ? <New /> : <RuleList />
  return path.endsWith('/edit') ? <Edit key={id} id={id} /> : <RulePageAnswer key={id} id={id} />
}

export default ({ parameters }: PageProps) => (
  <div class="rules">
    <NeedsScope scope="rules" to="see and change rules">
      {shownAt(useAddress().path, parameters)}
    </NeedsScope>
  </div>
)
