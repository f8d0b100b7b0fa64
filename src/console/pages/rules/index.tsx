import { useAsk } from '../../api/ask.ts'
import { useAddress } from '../../browser/router.tsx'
import { Await, NeedsScope } from '../../parts/answer.tsx'
import type { PageProps } from '../../routes.ts'
import { RuleList } from './list.tsx'
import { WatchListsPage } from './lists.tsx'
import { RulePageAnswer } from './rule.tsx'
import { SilencesPage } from './silences.tsx'

const shownAt = (path: string, parameters: PageProps['parameters']) => {
  if (path.startsWith('/rules/lists')) return <WatchListsPage open={parameters.get('list')} />
  if (path.startsWith('/rules/silences')) return <SilencesPage open={parameters.get('silence')} />
  const id = parameters.get('id')
  if (path.startsWith('/rules/new') || path.endsWith('/edit')) return <Editing id={id} />
  return id === undefined ? <RuleList /> : <RulePageAnswer key={id} id={id} />
}

/** The editor, which is loaded once it is opened. */
const Editing = ({ id }: { id: string | undefined }) => (
  <Await
    asked={useAsk('editor', () => import('./editor.tsx'))}
    failed="The editor cannot be loaded"
    busy="Opening the editor"
  >
    {({ Edit, New }) => (id === undefined ? <New /> : <Edit key={id} id={id} />)}
  </Await>
)

export default ({ parameters }: PageProps) => (
  <div class="rules">
    <NeedsScope scope="rules" to="see and change rules">
      {shownAt(useAddress().path, parameters)}
    </NeedsScope>
  </div>
)
