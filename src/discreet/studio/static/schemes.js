// The schemes that were tried with the same promises, side by side.
import { html } from "./vendor/preact.js";
import { useApp } from "./context.js";
import { Card, Meter } from "./parts.js";
import { Icon } from "./icons.js";
import { count, share } from "./format.js";
import { texts } from "./texts.js";

const words = texts.schemes;

/** The least a release of the same kind could lose, as far as the search knows; what it loses once that is proven. */
export const atBest = ({ status, gap, normalized_cost: lost }) => (status === "optimal" ? lost : lost * (1 - (gap ?? 1)));

const proven = (found) => found.status === "optimal" || found.gap === 0;

/** A table with a row for each scheme, cards on a phone, hence the roles; `chosen` is marked, and `running` is searched now. */
export function Schemes({ list, chosen, running = null, rows }) {
  const { about } = useApp();
  const tries = (about.vocabulary.schemes.find((each) => each.name === "best") || {}).tries || [];
  const waiting = running ? tries.slice(tries.indexOf(running) + 1) : [];
  const known = new Map(about.vocabulary.schemes.map((each) => [each.name, each]));
  const title = (name) => (known.get(name) || {}).title || name;
  const best = Math.min(...list.filter((each) => each.normalized_cost !== null).map((each) => each.normalized_cost));
  const most = Math.max(1e-9, ...list.map((each) => each.normalized_cost || 0));
  const winner = list.find((each) => each.scheme === chosen);
  const others = list.filter((each) => each !== winner && each.normalized_cost !== null);
  const worst = others.length ? Math.max(...others.map((each) => each.normalized_cost)) : null;
  const headline = winner && worst !== null ? words.winner(title(chosen), share(winner.normalized_cost), share(worst)) : words.text;
  const head = (name) => html`<th scope="row" role="rowheader"><span class="row tight">${title(name)}${name === chosen && html`<span class="chip good"><${Icon} name="check" />${words.taken}</span>`}</span><span class="term">${name}</span></th>`;
  return html`<${Card} kind="flush" title=${words.title} text=${headline}><div class="scroll" tabindex="0" role="group" aria-label=${words.title}><table class="grid schemes-table" role="table"><thead role="rowgroup"><tr role="row">
      ${["scheme", "privacy", "lost", "risk", "leftOut", "proof"].map((name) => html`<th scope="col" role="columnheader">${words[name]}</th>`)}</tr></thead><tbody role="rowgroup">
    ${list.map((each) => (each.normalized_cost === null
      ? html`<tr role="row" key=${each.scheme} data-tried=${each.scheme}>${head(each.scheme)}<td role="cell" colspan="5" class="wrap quiet">${words.none} ${each.reason}</td></tr>`
      : html`<tr role="row" key=${each.scheme} data-tried=${each.scheme} class=${each.scheme === chosen ? "taken" : ""}>${head(each.scheme)}
        <td role="cell" data-label=${words.privacy}>${words.groups(count(each.smallest_class))}</td>
        <td role="cell" data-label=${words.lost}><div class="bar-cell"><${Meter} value=${each.normalized_cost / most} kind=${each.normalized_cost === best ? "good" : "bound"} label=${words.lostOf(share(each.normalized_cost))} /><b class="figures">${share(each.normalized_cost)}</b></div></td>
        <td role="cell" data-label=${words.risk}><b class="figures">${share(each.highest_risk)}</b><span class="small quiet second">${words.average(share(each.average_risk))}</span></td>
        <td role="cell" data-label=${words.leftOut}><b class="figures">${count(each.suppressed)}</b>${rows && each.suppressed > 0 ? html`<span class="small quiet second">${share(each.suppressed / rows)}</span>` : ""}</td>
        <td role="cell" data-label=${words.proof}>${proven(each) ? html`<span class="row tight"><${Icon} name="check" size=${16} />${words.proven}</span>` : words.couldBe(share(atBest(each)))}</td></tr>`))}
    ${running && html`<tr role="row" data-tried=${running}>${head(running)}<td role="cell" colspan="5"><span class="row tight"><span class="spinner"></span>${words.searching}</span></td></tr>`}
    ${waiting.map((name) => html`<tr role="row" data-tried=${name}>${head(name)}<td role="cell" colspan="5" class="quiet">${words.waiting}</td></tr>`)}
  </tbody></table></div>
  <p class="note small quiet">${words.note}</p></${Card}>`;
}
