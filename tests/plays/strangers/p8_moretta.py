"""IT Venezia, carnevale del 1743: un patrizio rovinato, una maschera che non parla, un anello d'opale, due Zanette.
Abitudini del narratore: mette titoli e articoli davanti ai nomi (sior, Sua Eccellenza, la contessina, la Zanetta), chiama il personaggio `sior Marco` o `il Venier`, scrive il numero prima (`12 zecchini`), `nessuno` dove non c'è nulla,
nomina chi è presente solo la prima volta, e racconta al passato remoto."""
from form import *
PLAY = dict(id='8-moretta', char='Zorzi Furlan', user='Marco Venier', hp=True, unique=["anello d'opale", 'chiave del casino', 'stiletto', 'lettera', 'due di coppe', 'salvacondotto'],
    card='Zorzi Furlan, 27 anni, gondoliere al traghetto di San Tomà. Canta male, rema bene, sa tutto di tutti. Sua sorella Zanetta Furlan, che il sestiere chiama la Zanetta, fa merletti in una bottega a San Barnaba; non va confusa con Zanetta Balbi, '
         'la contessina Balbi, novizia a San Zaccaria. Sua Eccellenza Alvise Contarini è vedovo da novembre. Sior Bortolo Zen presta su pegno in Frezzeria. Il capo degli sbirri è Missier Grande. '
         'Nessuno a Venezia nomina un patrizio senza titolo, neanche uno in miseria: {{user}} è sior Marco per il popolo, il Venier per i suoi pari.',
    persona='Marco Venier, 30 anni, patrizio barnabotto: nome antico, tasche vuote. Campa di carte e di favori. Spiritoso, prudente, incapace di lasciare una donna nei guai.',
    greeting='*Al Ridotto, la notte di Santo Stefano, le maschere fanno ressa intorno ai tavoli del faraone. Una sola sedia è libera, e di fronte siede un uomo vestito a lutto.* «Accomodatevi, Venier. La fortuna, stasera, tiene banco per i disperati.»',
    me=['sior Marco', 'il Venier', 'Venier', 'Marco', 'sior Venier', 'Vossignoria'], two=['Zanetta Furlan', 'Zanetta Balbi'], disguised=['Lucrezia Contarini'],
    forms={'Zorzi Furlan': ['Zorzi', 'sior Zorzi'], 'Zanetta Furlan': ['la Zanetta', 'la merlettaia'], 'Zanetta Balbi': ['contessina Balbi', 'la contessina Balbi', 'la contessina', 'contessina'],
           'Alvise Contarini': ['Sua Eccellenza Contarini', 'il Contarini', 'Contarini', 'Sua Eccellenza', 'Alvise'], 'Lucrezia Contarini': ['la Moretta', 'Moretta', 'donna Lucrezia', 'Lucrezia', 'donna Lucrezia Contarini'],
           'Bortolo Zen': ['sior Bortolo', 'Bortolo'], 'Missier Grande': ['il Missier Grande'], 'dottor Gozzi': ['il dottor Gozzi', 'Gozzi'], 'Menego': [],
           'Ridotto': ['il Ridotto'], 'gondola di Zorzi': ['la gondola di Zorzi', 'la gondola'], 'traghetto di San Tomà': ['il traghetto di San Tomà'], 'bottega della Zanetta': ['la bottega della Zanetta'], 'banco dei pegni': ['il banco dei pegni'],
           'parlatorio di San Zaccaria': ['il parlatorio di San Zaccaria'], 'i Piombi': ['Piombi'], 'casino alla Giudecca': ['il casino alla Giudecca'], 'zecchini': ['zecchino'], 'candele': ['candela']})
SAY = {'Zorzi Furlan': 'Zorzi', 'Zanetta Furlan': 'la Zanetta', 'Zanetta Balbi': 'contessina Balbi', 'Alvise Contarini': 'Sua Eccellenza Contarini', 'Lucrezia Contarini': 'la Moretta', 'Bortolo Zen': 'sior Bortolo'}
DL = {'Lucrezia Contarini': 'donna Lucrezia'}
OPS = [
T('Mi siedo. «I disperati, Eccellenza, almeno non hanno fretta. Carte.»',
  'Sua Eccellenza Alvise Contarini tagliò il mazzo con due dita guantate di nero. Il Venier puntò l\'unico zecchino che aveva e, per una volta, la dama di quadri fu una dama: in capo a un\'ora gli stavano davanti trenta zecchini, in pile storte. Attorno al tavolo le maschere smisero di bisbigliare. Il Contarini non parve addolorato; guardava quelle mani, piuttosto, come si guarda un attrezzo che si pensa di comprare.',
  L='Ridotto', N='Alvise Contarini', G='zecchini x30', R='Alvise Contarini>@:calcolatore-1', mood='febbrile', n='Notte di Santo Stefano al Ridotto: il Venier vince al faraone.', me='il Venier'),
T('«Vostra Eccellenza perde con molta grazia. Che cosa desidera da me?»',
  '«Mia moglie è annegata a novembre, lo saprete. Donna Lucrezia cadde dalla riva di Ca\' Contarini, di notte, con al dito un opale di mia madre.» Lo disse senza una piega, come chi recita un inventario. «Il corpo, la laguna se lo tenne. L\'anello invece è stato visto a terra. Ritrovatemelo, e ci saranno cento zecchini.» Il Venier pensò al fitto, al freddo, e diede la sua parola.',
  C='Lucrezia Contarini=dead', R='Alvise Contarini>Lucrezia Contarini:vedovo+1', mood='gelido', debt=('anello', ("ritrovare l'anello", 'opale'), 'Alvise Contarini'), n="Il Contarini racconta che donna Lucrezia annegò a novembre. Il Venier gli ha promesso di ritrovare l'anello d'opale.", me='il Venier', say=DL),
T('Raccolgo le monete e mi giro: qualcuno mi sta fissando.',
  'Era una donna in nero, col volto coperto dalla moretta, quell\'ovale di velluto che si regge stringendo un bottone fra i denti, e che perciò condanna al silenzio. Il Contarini s\'era già perso fra i tabarri, verso la cioccolata. La Moretta fece scivolare sul tavolo una carta, il due di coppe; sul margine, a matita: «San Tomà, mezzanotte». Poi abbassò gli occhi, e gli occhi erano pieni d\'acqua.',
  N='Lucrezia Contarini', gone='Alvise Contarini', S='Alvise Contarini', X='due di coppe:Lucrezia Contarini>@', R='Lucrezia Contarini>@:supplichevole+1', mood='misterioso', n='Una maschera muta, la Moretta, dà appuntamento a San Tomà a mezzanotte.', me='sior Marco',
  before=[W('La donna in nero si strappò la maschera: sotto non c\'era un viso ma un meccanismo, rotelle d\'ottone, un carillon. «Made in Norimberga», disse una vocina. Il Venier svenne sopra il banco del faraone, e le monete rotolarono fino in piazza.',
            N='Lucrezia Contarini', O='zecchini x30', hp=-5, C='@=svenuto', n="La maschera è un automa di Norimberga.", mood='assurdo', me='sior Marco', lies=['automa', 'Norimberga', 'svenuto'])]),
T('«Zorzi! Dormi? Portami dove sai tu, e senza cantare.»',
  'Zorzi Furlan non dormiva mai del tutto. «Sior Marco coi soldi! Allora è proprio Natale.» Prese due zecchini, li morse tutt\'e due, e la gondola si staccò dalla riva senza un rumore. La Moretta era rimasta sotto le lampade del Ridotto, ad aspettare il suo momento. «San Tomà», rifletté il gondoliere. «È il mio traghetto, quello. Chi vi aspetta a casa mia, e non me lo dice?»',
  L='gondola di Zorzi', N='Zorzi Furlan', gone='Lucrezia Contarini', X='zecchini x2:@>Zorzi Furlan', R='Zorzi Furlan>@:affezionato+2', mood='allegro', n='Zorzi porta sior Marco al traghetto di San Tomà.', me='sior Marco'),
T('Mezzanotte. Scendo per primo, con la lanterna bassa.',
  'La Moretta era già là, contro il muro, e non era sola: dietro di lei la nebbia fece un passo avanti ed ebbe un coltello. Il Venier prese il colpo nel fianco, di striscio, e Zorzi calò il remo come una sentenza. Lo sconosciuto finì in acqua, nuotando. Per terra rimase uno stiletto col manico d\'osso. La donna, tremando, gli mise in mano una chiave.',
  L='traghetto di San Tomà', N='Lucrezia Contarini; Zorzi Furlan', hp=-15, C='@=ferito al fianco', G='stiletto', X='chiave del casino:Lucrezia Contarini>@', E='Agguato al traghetto di San Tomà', mood='violento', n='La Moretta ha dato a sior Marco la chiave di un casino.', me='sior Marco'),
CONT('Col dito, sul muro bagnato, lei scrisse una parola sola: GIUDECCA. Poi passò la manica su tutto e fuggì per la calle.', S='Lucrezia Contarini', mood='inquieto', n='La Moretta ha indicato la Giudecca ed è fuggita.', me='sior Marco'),
T('«Ti confesso che sanguino, Zorzi. Chi mi ricuce a quest\'ora?»',
  '«Mia sorella. Fa i merletti, un buco in più o in meno...» Nella bottega a San Barnaba la Zanetta accese tre lumi, guardò il taglio, guardò il fratello e infilò l\'ago. Dodici punti, a punto in aria, che il Venier avrebbe potuto portare a corte. «Per la stoffa sono otto zecchini», annunciò lei mordendo il filo. «Per la pelle, niente. Pagate quando potete, ma pagate.»',
  L='bottega della Zanetta', N='Zanetta Furlan; Zorzi Furlan', hp=10, C='@=healed', R='Zanetta Furlan>Zorzi Furlan:sorella+2; Zanetta Furlan>@:pungente+1', debt=('merletto', ('otto zecchini',), 'Zanetta Furlan'), mood='domestico', n='La Zanetta ha ricucito sior Marco; lui le deve otto zecchini per una camicia di merletto.', me='sior Marco'),
T('Le mostro il due di coppe. «Avete mai visto questa mano?»',
  'La Zanetta accostò la carta al lume. «La mano no. Ma questo è il velluto che ho orlato io, per una moretta, a ottobre. Me lo pagò una dama... no, la sua cameriera, con un anello.» Arrossì. «Un opale. Io un opale non lo porto, che porta male: lo impegnai da sior Bortolo, in Frezzeria.» Zorzi fischiò. Il Venier fece due conti, e poi li rifece, perché ottobre viene prima di novembre.',
  E="La Zanetta rivela dov'è l'opale", mood='sorpreso', n="La Zanetta impegnò l'anello d'opale da sior Bortolo in Frezzeria; lo aveva avuto a ottobre.", me='sior Marco'),
T('La mattina vado da sior Bortolo, da solo, con l\'aria di chi ha tempo.',
  'Sior Bortolo Zen pesava orecchini, e gli orecchini pesavano sempre poco. I due fratelli erano rimasti a San Barnaba, lei curva sul tombolo, lui a dormire sul serio. «Quindici», disse il vecchio. «Dieci», disse il Venier. «Venti», disse sior Bortolo, «perché ieri è venuto un servo del Contarini a chiederlo.» Pagò venti zecchini: gliene restarono otto. L\'opale aveva dentro una goccia di fuoco.',
  L='banco dei pegni', N='Bortolo Zen', S='Zanetta Furlan; Zorzi Furlan', X="zecchini x20:@>Bortolo Zen; anello d'opale:Bortolo Zen>@", R='Bortolo Zen>@:avido-1', mood='astuto', n="Il Venier ha riscattato l'anello d'opale. Un servo del Contarini lo cercava. Restano otto zecchini.", me='il Venier'),
T('Lo rigiro verso la finestra. C\'è scritto qualcosa, dentro?',
  '«Z. a L., sorelle di latte.» Sior Bortolo allargò le braccia: lui comprava pietre, non storie. Però, siccome era stato pagato bene, una storia la regalò. «La nutrice di donna Lucrezia, pace all\'anima sua, allattò anche la piccola dei Balbi. Quella che adesso è a San Zaccaria, dietro le grate. Zanetta, come la merlettaia. A Venezia siamo in tanti, e i nomi sono pochi.»',
  mood='riflessivo', n='Nell\'anello è inciso «Z. a L., sorelle di latte»: Z. è la contessina Balbi, novizia a San Zaccaria.', me='il Venier'),
T('A San Zaccaria, dunque. Chiedo della contessina Balbi.',
  'Nel parlatorio facevano i burattini per i bambini, e le novizie ridevano dietro il ferro come canarini. La contessina Balbi non rideva. Posò un dito sulla grata, il Venier vi accostò l\'anello, e lei impallidì. «Non era al suo dito», mormorò. «Lo vendette per fuggire. Sior Marco, voi l\'avete vista? No: non rispondetemi qui. Tenetelo nascosto, e non lo abbia mai Alvise.»',
  L='parlatorio di San Zaccaria', N='Zanetta Balbi', gone='Bortolo Zen', R='Zanetta Balbi>@:fiduciosa+1; Zanetta Balbi>Lucrezia Contarini:sorella di latte+3', mood='sussurrato', n="La contessina Balbi teme il Contarini: l'anello non deve tornare a lui.", me='sior Marco', say=DL,
  after=[W('La contessina rise più forte di tutte. «Lucrezia? È al bagno di Abano, coi reumatismi!» E dalla ruota del convento fece uscire un vassoio di cannoli, una fattura e un pappagallo che cantava il Te Deum. «Pagate voi, Venier?»',
           L='parlatorio di San Zaccaria', N='Zanetta Balbi', G='cannoli x6', O='zecchini x4', n='Donna Lucrezia sarebbe ai bagni di Abano.', mood='burlesco', me='sior Marco', say=DL, lies=['Abano', 'cannoli', 'pappagallo'])]),
T('«E voi, contessina? Che cosa rischiate, voi, a parlarmi?»',
  '«Il velo, che non voglio.» Guardò i burattini, non lui. «C\'è un uomo che passa ogni sera sotto la mia finestra e canta malissimo. Io sono innamorata di Zorzi Furlan, ecco; di un gondoliere. Lui non lo sa. Adesso lo sapete voi, e nessun altro al mondo.» Gli passò fra le sbarre una lettera chiusa. «Questa invece è di Lucrezia. L\'ebbi a Natale. I morti, vedete, scrivono.»',
  X='lettera:Zanetta Balbi>@', secret=('innamorata di Zorzi', ('solo sior Marco', 'solo il Venier', 'solo Marco', 'segreto')), R='Zanetta Balbi>@:complice+2', mood='commosso', n='Segreto che conosce solo sior Marco: la contessina Balbi è innamorata di Zorzi.', me='sior Marco'),
T('Torno da Zorzi al traghetto e apro la lettera sotto il felze.',
  '«"Non sono caduta: mi spinse Alvise"», lesse a mezza voce il Venier. «"Chi mi ripescò fu un cieco; chi mi nasconde non lo scrivo. Se ho la moretta sul viso, è perché la mia voce la conoscono tutti."» Zorzi smise di masticare. «Allora la muta...» «Allora forse.» Il Venier si tolse l\'opale dal dito e lo chiuse nel pugno dell\'amico. «Tienilo tu. A me lo cercano addosso.»',
  L='traghetto di San Tomà', N='Zorzi Furlan', gone='Zanetta Balbi', X="anello d'opale:@>Zorzi Furlan", E='La lettera accusa il Contarini', mood='teso', n="Nella lettera donna Lucrezia scrive che fu il Contarini a spingerla in acqua. L'anello è in custodia a Zorzi.", me='sior Marco', say=DL),
DROP('Vado dritto a Ca\' Contarini e lo sfido a duello.',
  'Il Contarini scelse la pistola, la terrazza e l\'alba. Il padrino del Venier, un certo abate Querini, sbagliò a contare: sparò il Contarini al due. La palla gli portò via un orecchio e la parrucca, che volò fino al campanile dei Frari.',
  L="terrazza di Ca' Contarini", N='Alvise Contarini; abate Querini', hp=-30, C='@=senza un orecchio', n="Duello: il Venier ha perso un orecchio.", mood='disastroso', me='il Venier', say=DL, lies=['abate Querini', 'duello', 'orecchio']),
T('«Un segno, fra noi due.» Strappo a metà il due di coppe.',
  'Una coppa per uno. «Chi ti porta l\'altra metà viene da parte mia», disse il Venier, «fosse anche il boia.» Zorzi se la ficcò nella fascia, accanto al salame. La nebbia s\'era alzata e sul Canal Grande passava, in piena luce, una peota tappezzata di nero con sei rematori: gli sbirri. A prua, a braccia conserte, stava Missier Grande in persona, e guardava da questa parte.',
  O='due di coppe', G='metà della carta x2', X='metà della carta:@>Zorzi Furlan', N='Missier Grande', mood='minaccioso', n='Il due di coppe è strappato: una metà l\'ha sior Marco, l\'altra Zorzi, come segno di riconoscimento.', me='sior Marco'),
T('«Via, Zorzi. A te non ti vogliono. VIA!» E vado loro incontro.',
  'La gondola sparì sotto un ponte. Missier Grande era un uomo grosso e cortese. «Il nobilomo Venier? Una denuncia segreta, nella bocca del leone. Gioco, ricatto, e un anello.» Gli tolsero gli otto zecchini, lo stiletto, la lettera; la chiave era nella scarpa e la mezza coppa sotto la lingua. Un\'ora dopo, sotto il tetto del Palazzo, qualcuno gli chiuse dietro una porta bassa.',
  L='i Piombi', N='Missier Grande', gone='Zorzi Furlan', S='Zorzi Furlan', X='zecchini x8:@>Missier Grande; stiletto:@>Missier Grande; lettera:@>Missier Grande', R='Missier Grande>@:cortese+1', E='Il Venier è arrestato', mood='cupo', n='Denuncia segreta: il Venier è rinchiuso ai Piombi. Zorzi è fuggito.', me='il Venier'),
T('Aspetto. Conto i topi. Chi viene, per primo?',
  'Missier Grande se ne andò col suo mazzo, e per primo venne il Contarini, con un fazzoletto al naso. «L\'anello, Venier. Domani potreste essere a casa.» Parlava piano, perfino con dolcezza. «Voi avete letto una lettera, mi dicono. È una povera pazza che imita la mano di mia moglie.» Sedette sull\'unico sgabello. «Ditemi solo chi la nasconde.»',
  N='Alvise Contarini', S='Missier Grande', R='Alvise Contarini>@:insidioso-2', mood='soffocante', n='Il Contarini offre la libertà in cambio dell\'anello e vuole sapere chi nasconde la donna.', me='il Venier'),
T('«Vi avevo dato la mia parola, Eccellenza. La riprendo. Cercatevelo da solo, il vostro opale.»',
  'Il Contarini piegò il fazzoletto in quattro. «Peccato», disse, e bussò per uscire. Il carceriere Menego, che aveva la faccia di uno che ha sentito tutto da tutta la vita, aspettò che i passi finissero. Poi si accovacciò davanti al prigioniero. «Mia figlia si sposa col merletto della Zanetta», bofonchiò. «A credito.» E posò sul pavimento quattro candele e un pane.',
  N='Menego', S='Alvise Contarini', paid='anello', settled=("promesso di ritrovare l'anello", ('ripreso', 'ritirato')), G='candele x4', R='Menego>@:solidale+1', mood='ostinato', n="Il Venier ha ripreso la parola data al Contarini: non gli cercherà più l'anello. Il carceriere Menego è dalla sua parte.", me='il Venier'),
T('«Menego, portate questo a un gondoliere di San Tomà.» Gli do la mezza coppa.',
  'Menego se la mise sotto il berretto senza chiedere. Due notti passarono, due candele; ne rimasero altrettante. Il freddo veniva giù dal piombo come acqua. La terza notte il Venier tossiva da spezzarsi, e quando la porta si aprì credette di sognare, perché nel vano c\'era una donna col volto coperto di velluto nero, e dietro di lei Menego che contava i gradini.',
  X='metà della carta:@>Menego', O='candele x2', hp=-10, C='@=febbre', N='Lucrezia Contarini', mood='febbricitante', n='Menego ha portato la mezza carta a Zorzi. La terza notte la Moretta è venuta ai Piombi. Restano due candele.', me='sior Marco'),
EDIT(2, 'quattro candele e un pane', 'quattro candele e mezzo pane'),
T('La guardo. «Siete voi?» E non dico il nome.',
  'Lei accennò di sì. Gli prese la fronte fra le mani, e le mani sapevano di sale e di sapone. Poi, senza fretta, fece un passo indietro, come fa chi vuole che si veda bene, e gli mostrò la strada col mento: la scala di servizio, il tetto, la luna. Menego canticchiava dall\'altra parte del muro per coprire i passi. Il campanile batté le tre, e nessuno dei tre disse una parola.',
  bad=''),
BRANCH(6,
  T('«Un segno? No, un inganno: facciamo credere a tutti che l\'anello è in fondo al canale.»', 'Zorzi ebbe un\'idea, e non era bella. Comprarono da un venditore ambulante, tale Piero Sponza, una scatola di opali di vetro a due soldi l\'uno. Ne gettarono uno da Rialto davanti a mezza Venezia, piangendo. Si tuffarono in undici. «Ne venderemo altri», disse Piero Sponza, commosso.',
    L='ponte di Rialto', N='Zorzi Furlan; Piero Sponza', G='opali di vetro x5', n='Piero Sponza ha venduto opali falsi di vetro.', mood='buffo', me='sior Marco', lies=['Sponza', 'di vetro']),
  T('«Adesso andiamo a Chioggia finché si calma l\'acqua.»', 'A Chioggia pioveva di traverso. L\'ostessa, siora Orsola, li guardò gocciolare e indicò la stalla. Zorzi starnutì tutta la notte addosso a una mula. All\'alba siora Orsola portò il brodo e la notizia: il Contarini s\'era risposato.',
    L='Chioggia', N='Zorzi Furlan; siora Orsola', gone='Piero Sponza', C='Zorzi Furlan=raffreddato', n='A Chioggia siora Orsola racconta che il Contarini si è risposato.', mood='umido', me='sior Marco', lies=['Orsola', 'Chioggia', 'risposato', 'raffreddato']),
  spoil=['Piombi', 'Menego', 'candele']),
T('Salgo sul tetto dietro di lei. Non guardo giù.',
  'Guardò giù. Le lastre erano lisce come schiene di pesce; Menego, rimasto alla porta, la richiuse come se non l\'avesse aperta nessuno. Dall\'altra parte, sotto la grondaia, dondolava la gondola, e Zorzi con le braccia spalancate. «Saltate, sior Marco, che vi prendo!» Lo prese a metà. La caviglia fece un rumore di noce. La Moretta scese dopo, leggera, per la fune.',
  L='gondola di Zorzi', N='Zorzi Furlan; Lucrezia Contarini', gone='Menego', hp=-10, C='@=caviglia slogata', E='Fuga dai Piombi', mood='vertiginoso', n='Il Venier è evaso dai Piombi con la Moretta e Zorzi.', me='sior Marco'),
T('«Giudecca. La chiave ce l\'ho nella scarpa, se la scarpa si lascia ancora togliere.»',
  'Il casino stava in fondo a un orto di carciofi, basso, senza lumi. La chiave girò. Dentro: un fuoco preparato, una spinetta, e un vecchio cieco che sgusciava piselli e non alzò la testa. La donna sputò il bottone nella mano. Sotto il velluto c\'era il volto che tutta Venezia aveva pianto. «Io sono Lucrezia», disse, con una voce arrugginita. «Sono viva, e sono stufa di tacere.»',
  L='casino alla Giudecca', N='Lucrezia Contarini; Zorzi Furlan', C='Lucrezia Contarini=alive', E='La Moretta si rivela: è donna Lucrezia Contarini', R='Lucrezia Contarini>@:grata+2', mood='rivelazione', n='La Moretta è donna Lucrezia Contarini: è viva.', me='sior Marco', say=DL,
  before=[W('La donna sputò il bottone. Era la Zanetta, la merlettaia, paonazza dalle risate. «Ci siete cascato per un mese!» Zorzi la sgridò, poi rise anche lui. L\'anello, spiegarono, l\'avevano già venduto a un tedesco, e col ricavato c\'era una cena di ostriche.',
            L='casino alla Giudecca', N='Zanetta Furlan; Zorzi Furlan', G='ostriche x12', n='La Moretta era la Zanetta: uno scherzo di carnevale.', mood='beffardo', me='sior Marco', say=DL, lies=['ostriche', 'scherzo di carnevale', 'beffardo'])]),
T('«Zorzi, l\'anello. È suo.»',
  'Zorzi lo cavò dalla fascia, lo lucidò sulla manica e, siccome davanti alle dame si confondeva, lo diede al Venier. Il Venier lo infilò al dito di donna Lucrezia, che lo tenne verso il fuoco. «Con questo e con la mia voce», disse lei, «andrò davanti ai Dieci. Ma Alvise ha comprato la metà dei giudici. Mi serve chi lo udì ordinare la mia morte.» E il cieco posò i piselli. «Io», disse.',
  X="anello d'opale:Zorzi Furlan>@; anello d'opale:@>Lucrezia Contarini", mood='deciso', n="Donna Lucrezia ha di nuovo l'anello. Il vecchio cieco udì il Contarini dare l'ordine.", me='sior Marco', say=DL),
T('«Mi serve anche un medico. E notizie. Zorzi, va\' da tua sorella.»',
  'Zorzi partì col buio e per un giorno la Giudecca fu soltanto pioggia sui carciofi. Il dottor Gozzi, amico del cieco e nemico del salasso, fasciò la caviglia e guarì la febbre col vin brulé. «Fra tre giorni ballerete», promise. Donna Lucrezia provava alla spinetta la propria voce, una nota alla volta, come si prova il ghiaccio col piede.',
  N='dottor Gozzi', S='Zorzi Furlan', hp=20, C='@=healed', R='dottor Gozzi>@:bonario+1', mood='quieto', n='Il dottor Gozzi ha curato il Venier. Zorzi è andato in città da sua sorella.', me='il Venier', say=DL),
T('«Chi c\'è alla porta? Zorzi, parla.»',
  'Non era Zorzi ma la Zanetta, zuppa, col grembiule in testa. «Mio fratello fa la guardia al canale. Sior Marco, hanno trovato sior Bortolo nel suo banco, freddo, con la bilancia al collo. È stato il servo del Contarini, dicono; cercava il registro dei pegni.» Si lasciò cadere davanti al fuoco. Poi vide chi sedeva alla spinetta, e si fece tre volte il segno della croce.',
  N='Zanetta Furlan', C='Bortolo Zen=dead', mood='funesto', n='Sior Bortolo è stato ucciso nel suo banco da un servo del Contarini, che cercava il registro dei pegni.', me='sior Marco', say=DL),
T('«Povero sior Bortolo. E il registro? L\'hanno trovato?»',
  '«No», disse la Zanetta, «perché ce l\'ho io.» Da sotto il grembiule uscì un librone unto. Ottobre, foglio nove: un anello d\'opale, portato da Zanetta Furlan. «Un mese prima che annegaste, donna Lucrezia. Se lo avevate già venduto, lui come fa a dire che ce l\'avevate al dito?» Il dottor Gozzi applaudì piano, con due dita. Il registro passò nelle mani del Venier.',
  X='registro:Zanetta Furlan>@', R='Zanetta Furlan>@:ammirata+1', mood='acuto', n='Il registro dei pegni prova che l\'anello era impegnato già a ottobre.', me='sior Marco', say=DL),
T('«Ci serve un ordine che mi lasci entrare a Palazzo senza finire ai Piombi. Che cosa rischiava, la contessina Balbi, per noi?»',
  'La Zanetta non lo sapeva; lo sapeva lui, e tacque. Ma la contessina era nipote di un Inquisitore, e donna Lucrezia, saputo questo, scrisse tre righe. Le portò la merlettaia, di corsa, e all\'alba tornò con un salvacondotto a tre sigilli. «Ha baciato la carta», riferì, «e ha domandato se mio fratello ha preso freddo. Chissà perché.» Il Venier studiò con attenzione il soffitto.',
  tell=['innamorata'], X='salvacondotto:Zanetta Furlan>@', mood='complice', n='Grazie alla contessina Balbi il Venier ha un salvacondotto per il Palazzo.', me='sior Marco', say=DL),
T('Giovedì grasso. Entro in sala con donna Lucrezia al braccio, mascherata. Zorzi ci segue.',
  'Nella sala della Bussola il Contarini stava già deponendo, in nero, con un fazzoletto fresco. Missier Grande lesse il salvacondotto da cima a fondo, lo tenne, e si scostò di un passo appena. Il dottor Gozzi e la Zanetta erano rimasti alla Giudecca, col vecchio e col fuoco. «Una maschera non è ammessa a testimoniare», osservò il segretario. «Allora», disse una voce arrugginita, «me la tolgo.»',
  L='sala della Bussola', N='Lucrezia Contarini; Zorzi Furlan; Alvise Contarini; Missier Grande', gone='dottor Gozzi; Zanetta Furlan', X='salvacondotto:@>Missier Grande', mood='solenne', n='Giovedì grasso, davanti ai giudici: il Contarini depone, donna Lucrezia si toglie la maschera.', me='il Venier', say=DL),
T('Poso il registro sul tavolo, aperto al foglio nove.',
  'Il segretario lesse, rilesse, e girò il librone verso i giudici perché leggessero anche loro. «Un cieco», rise il Contarini, «un gondoliere, una pazza!» Ma donna Lucrezia si limitò ad alzare la mano, e l\'opale prese il sole. Lui arretrò fino alla finestra. Nessuno lo spinse: lo videro tutti. Sotto c\'era il canale, e poiché era vestito di velluto e d\'orgoglio, non tornò su.',
  O='registro', C='Alvise Contarini=dead', E='Il Contarini è morto gettandosi nel canale', R='Missier Grande>@:rispettoso+1', mood='terribile', n='Il registro è rimasto ai giudici. Il Contarini si è gettato dalla finestra ed è annegato.', me='il Venier', say=DL),
T('Mi volto verso Missier Grande. «Otto zecchini, uno stiletto e una lettera, se non sbaglio.»',
  '«La Serenissima non trattiene nulla», sospirò l\'uomo grosso, e contò. Otto monete, lo stiletto col manico d\'osso; la lettera, disse, restava agli atti. Zorzi, che non era mai entrato a Palazzo se non col pensiero, fissava i soffitti dorati a bocca aperta. «Quanto ci vuole a spolverarli?» domandò. Donna Lucrezia rise, ed era la prima volta: un suono da porta che si riapre.',
  X='zecchini x8:Missier Grande>@; stiletto:Missier Grande>@', R='Lucrezia Contarini>@:amica+2', mood='liberatorio', n='Missier Grande ha reso gli otto zecchini e lo stiletto; la lettera resta agli atti.', me='il Venier', say=DL),
T('A San Barnaba, prima che ci ripensi. «Zanetta, quanto vi dovevo?»',
  'La Zanetta tese la mano senza alzare gli occhi dal tombolo. Otto zecchini, uno sull\'altro; poi il Venier rovesciò le tasche per far vedere la fodera. «Saldato», disse lei, e siccome la camicia era pronta da un mese gliela buttò in testa. Zorzi entrò ridendo. Donna Lucrezia aveva voluto camminare da sola fino a casa, a faccia nuda, per tutte le Mercerie.',
  L='bottega della Zanetta', N='Zanetta Furlan; Zorzi Furlan', gone='Missier Grande', S='Lucrezia Contarini', X='zecchini x8:@>Zanetta Furlan; camicia di merletto:Zanetta Furlan>@', paid='merletto', settled=('deve otto zecchini', ('saldato', 'pagato')), R='Zanetta Furlan>@:tenera+1', mood='leggero', n='Il Venier ha saldato il debito con la Zanetta e ha avuto la camicia di merletto.', me='sior Marco', say=DL),
T('«Zorzi, stasera passi sotto San Zaccaria?»',
  '«Ci passo sempre. C\'è una finestra...» S\'impappinò, e si grattò la nuca con la mezza coppa, che portava ancora nella fascia. La Zanetta guardò il fratello, poi sior Marco, e depose i fuselli. «Che finestra?» Il Venier si provò la camicia contro il petto. «Canta qualcosa d\'allegro», consigliò soltanto. «E stavolta, fratello mio, prendi la nota giusta.»',
  mood='malizioso', n='Zorzi passa ogni sera in gondola sotto una finestra di San Zaccaria.', me='sior Marco'),
T('Ultima notte di carnevale. Torno al Ridotto, a mani vuote. Chi c\'è al tavolo del povero Contarini?',
  'Al tavolo del faraone, su quella sedia, c\'era donna Lucrezia, vestita di giallo. Teneva banco lei. I fratelli Furlan erano rimasti fuori a litigare su una canzone. «Accomodatevi, Venier. Dicono che la fortuna assista i disperati.» «Non lo sono più abbastanza.» Lei tagliò il mazzo e gli porse, scoperto, un due di coppe nuovo di zecca. «Intero, questa volta», disse.',
  L='Ridotto', N='Lucrezia Contarini', gone='Zorzi Furlan; Zanetta Furlan', X='due di coppe:Lucrezia Contarini>@', R='Lucrezia Contarini>@:innamorata+2', mood='incantato', n='Ultima notte di carnevale: donna Lucrezia tiene banco al Ridotto.', me='il Venier', say=DL),
]


def habit(k):
    """The number before the thing, `nessuno` where there is nothing."""
    if 'bad' in k: return
    say = k['say'] = SAY | k.get('say', {}); me = k['me']
    def w(p):
        b, n = count(p); b = me if b == '@' else say.get(b, b)
        return f'{n} {b}' if n > 1 else b
    def many(key): return '[' + ', '.join(map(w, parts(k[key]))) + ']' if k.get(key) else 'nessuno'
    raw = dict(items_gained=many('G'), items_lost=many('O'), npc_met=many('N'), npc_separated=many('S'))
    raw['items_transferred'] = '[' + ', '.join('{item: %s, from: %s, to: %s}' % (w(i), w(a), w(b)) for i, a, b in transfers(k['X'])) + ']' if k.get('X') else 'nessuno'
    for f, key in (('relationship_changes', 'R'), ('status_changes', 'C')):
        if not k.get(key): raw[f] = 'nessuno'
    if not k.get('E'): raw['event_trigger'] = 'nessuno'
    k['raw'] = raw | k.get('raw', {})


for o in OPS:
    for x in [o, *o.get('before', []), *o.get('after', []), *o.get('turns', [])]:
        if 'facts' in x: habit(x['facts'])
