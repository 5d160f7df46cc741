import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import { Commands } from '../../parts/commands.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { ChangePreview } from '../../parts/preview.tsx';

const list = (text: string) => text.split(/[\s,]+/).filter(Boolean);

export function NewToken({ onClose, onMade }: { onClose: () => void; onMade: (secret: string) => void }) {
  const [name, setName] = useState('');
  const [tools, setTools] = useState('*');
  const [deny, setDeny] = useState('');
  const [readOnly, setReadOnly] = useState(false);
  const [expires, setExpires] = useState('90d');
  const [problem, setProblem] = useState<Problem>();
  const body = () => ({
    name: name.trim(), tools: list(tools), ...(deny.trim() ? { deny: list(deny) } : {}), ...(readOnly ? { read_only: true } : {}), ...(expires.trim() ? { expires: expires.trim() } : {})
  });
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      onMade((await api.createToken(body())).token);
    } catch (caught) {
      setProblem(caught as Problem);
    }
  };
  return (
    <Dialog title="Make a token" onClose={onClose}>
      <form onSubmit={submit}>
        <label>Name<input required value={name} placeholder="ci" onInput={(event) => setName(event.currentTarget.value)} /></label>
        <label>Tools it may use<input value={tools} placeholder="files_*, shop_read*" onInput={(event) => setTools(event.currentTarget.value)} /></label>
        <label>Tools it may not use<input value={deny} placeholder="none" onInput={(event) => setDeny(event.currentTarget.value)} /></label>
        <label>Expires after<input value={expires} placeholder="never" onInput={(event) => setExpires(event.currentTarget.value)} /></label>
        <label class="check"><input type="checkbox" checked={readOnly} onChange={(event) => setReadOnly(event.currentTarget.checked)} /> Only tools that are declared read-only</label>
        {name.trim() && <ChangePreview change={{ token: body() }} newcomer />}
        <Commands method="POST" path="/admin/tokens" body={body()} />
        <ProblemNotice problem={problem} />
        <div class="actions"><button type="button" onClick={onClose}>Cancel</button><button type="submit" class="primary">Make</button></div>
      </form>
    </Dialog>
  );
}
