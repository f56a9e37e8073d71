"""Marseille, janvier 1943 : un réseau du Vieux-Port, un frère fusillé qui ne l'est pas, un inspecteur qu'on croit savoir lire.
Habitudes du narrateur : il appelle le personnage « vous » jusque dans le bloc (parfois Hirondelle), il relit à chaque tour la liste de tous les présents et l'y met elle-même, il écrit « aucun » pour une liste vide,
compte entre parenthèses (tickets de pain (6)), met l'article devant les choses (le plan du port) et donne aux gens leur nom de guerre ou leur grade ; les humeurs sont des substantifs."""
from form import *
PLAY = dict(id='5-hirondelle', char='Bastien Carle', user='Madeleine Aubry', hp=True, unique=['carte d\'identité', 'montre', 'émetteur', 'plan du port', 'pistolet', 'médaille'],
    card="Marseille, janvier 1943. {{char}}, trente-quatre ans, ancien second de la marchande, dirige ce qui reste du réseau Mistral ; tout le monde l'appelle le Marin. {{user}} y est Hirondelle, agent de liaison. Les autres : Rose Gallo, dite Tante Rose, patronne du "
         "Petit Navire, qui prête à tous et n'oublie rien ; le docteur Élie Sabatier ; Lucien Ferrand, douze ans, le petit Lucien, qui porte les messages ; Lucien Aubry, le frère de {{user}}, arrêté en décembre. En face : le commissaire Werner Haas et son ombre française, l'inspecteur Ange Paoli.",
    persona="Madeleine Aubry, vingt-huit ans, nom de guerre Hirondelle, ancienne institutrice du Panier. Mémoire d'éléphant, mauvais caractère.",
    greeting="*Le mistral fait claquer le volet du Petit Navire. Derrière le zinc, Tante Rose essuie le même verre depuis dix minutes ; au fond, un homme en caban ne touche pas à son café d'orge.* « Ferme la porte, Hirondelle. Tu fais entrer la guerre. »",
    me=['Madeleine', 'Hirondelle', 'vous', 'Aubry', 'Madeleine Aubry'], two=['Lucien Aubry', 'Lucien Ferrand'],
    forms={'Bastien Carle': ['le Marin', 'Bastien', 'Carle', 'Marin'], 'Rose Gallo': ['Tante Rose', 'Rose', 'la Rose'], 'Élie Sabatier': ['docteur Sabatier', 'le docteur Sabatier', 'Sabatier', 'le docteur', 'Docteur Sabatier', 'docteur Élie Sabatier'],
           'Lucien Ferrand': ['le petit Lucien', 'petit Lucien'], 'Lucien Aubry': [], 'Werner Haas': ['commissaire Haas', 'le commissaire Haas', 'Haas', 'Commissaire Haas'], 'Ange Paoli': ['inspecteur Paoli', "l'inspecteur Paoli", 'Paoli', 'Inspecteur Paoli'],
           'Agathe': ['sœur Agathe', 'la sœur Agathe'], 'Garcin': ['patron Garcin', 'le patron Garcin', 'le père Garcin'], 'Le Petit Navire': ['Petit Navire', 'au Petit Navire'], 'grenier de la rue Caisserie': ['le grenier', 'grenier', 'le grenier de la rue Caisserie'],
           "cabinet du docteur Sabatier": ['le cabinet du docteur Sabatier', 'le cabinet'], 'hôpital de la Conception': ["l'hôpital de la Conception", 'la Conception', 'Hôpital de la Conception'], 'église Saint-Laurent': ["l'église Saint-Laurent", 'Saint-Laurent'],
           'quai du Port': ['le quai du Port'], 'calanque de Sormiou': ['la calanque de Sormiou', 'Sormiou'], 'plan du port': ['le plan du port'], 'émetteur': ["l'émetteur"], 'montre': ['la montre'], 'pistolet': ['le pistolet'], "carte d'identité": ["la carte d'identité", "la fausse carte d'identité", "fausse carte d'identité"],
           'médaille': ['la médaille'], 'moitié de plan': ['moitiés de plan', 'la moitié de plan'], 'ticket de pain': ['tickets de pain'], 'franc': ['francs']})
PLURIEL = {'ticket de pain': 'tickets de pain', 'franc': 'francs', 'moitié de plan': 'moitiés de plan'}
SAY = {'Bastien Carle': 'le Marin', 'Rose Gallo': 'Tante Rose', 'Élie Sabatier': 'le docteur Sabatier', 'Lucien Ferrand': 'le petit Lucien', 'Werner Haas': 'le commissaire Haas', 'Ange Paoli': "l'inspecteur Paoli", 'Agathe': 'sœur Agathe', 'Garcin': 'le patron Garcin',
       'plan du port': 'le plan du port', 'émetteur': "l'émetteur", 'montre': 'la montre', 'pistolet': 'le pistolet', "carte d'identité": "la fausse carte d'identité", 'médaille': 'la médaille'}


class Fr(dict):
    """« aucun » pour une liste vide, « tickets de pain (6) » pour ticket de pain x6."""
    def __ror__(self, fields):
        out = dict(fields) | dict(self)
        for a, v in out.items():
            if a.startswith('items_'):
                for s, p in PLURIEL.items(): v = re.sub(rf'(?<=[\[ ]){s} x(\d+)(?=[,\]])', rf'{p} (\1)', v)
            out[a] = 'aucun' if v == '[]' else v
        return out


def fr(t, k):
    """Tous les présents, et elle avec eux, sont relus à chaque tour."""
    k.setdefault('me', 'vous'); k['say'] = SAY | k.get('say', {})
    if 'bad' in k: return fold(t, k)
    after = fold(t, k)
    k['N'] = '; '.join(['@', *sorted(after['here'])])
    k['raw'] = Fr(k.get('raw', {}))
    return fold(t, k)


OPS = [
T("Je pousse le verrou. « La guerre était déjà dedans, Bastien. »",
  "Le Marin sourit avec la moitié de la bouche. Tante Rose pose son verre, ouvre le tiroir-caisse et vous fait signe d'approcher. « Tiens. Quatre cents francs, et tu signes rien, parce que j'ai de la tête. Tu me les rends avant la Chandeleur. » Elle y joint six tickets de pain, pliés dans une recette de navettes. « Ça, c'est cadeau. C'est des faux. »",
  L='Le Petit Navire', N='Rose Gallo; Bastien Carle', X='franc x400:Rose Gallo>@; ticket de pain x6:Rose Gallo>@', R='Rose Gallo>@:affection bourrue+1; Bastien Carle>@:confiance+1', mood='méfiance', n="Tante Rose a prêté quatre cents francs à Hirondelle, à rendre avant la Chandeleur.", debt=('rose', ('avant la Chandeleur',), 'Rose Gallo')),
T("« Et toi, tu me donnes quoi ? Un autre enterrement ? »",
  "« Un autre nom. » De la doublure de son caban, le Marin tire une carte d'identité toute neuve, salie exprès au marc de café. Carpentier, Odette, couturière, née à Arles. La photo est la vôtre, en moins fatiguée. « Apprends-la. Ta date de naissance, c'est le jour où j'ai eu mon brevet, comme ça l'un de nous deux s'en souviendra. » Le volet claque ; vous sursautez tous les trois.",
  X="carte d'identité:Bastien Carle>@", mood='ironie', n="Hirondelle a une fausse carte au nom d'Odette Carpentier, couturière."),
T("Un gosse gratte au carreau. J'ouvre : « Entre, petit Lucien, tu es bleu. »",
  "Il entre, bleu en effet, avec des chaussures de femme trop grandes pour ses douze ans. « Ils mettent des barrières rue de la République », récite le petit Lucien d'une traite. « Y a des camions de gardes mobiles depuis Aix. » Vous lui glissez deux de vos tickets ; il en reste quatre. Il les fait disparaître si vite que le Marin rit tout haut.",
  N='Lucien Ferrand', X='ticket de pain x2:@>Lucien Ferrand', R='Lucien Ferrand>@:adoration+2', mood='inquiétude', n="Le petit Lucien annonce des barrières et des camions : une rafle se prépare."),
T("« Il me rappelle mon frère au même âge. Même prénom, même insolence. »",
  "Personne n'a le temps de répondre. La porte s'ouvre sur un feutre mouillé : l'inspecteur Paoli. Le Marin a filé par la cave avec le gosse, sans un bruit. Paoli pose sur le zinc une montre au verre fendu. « Aubry, Lucien. Fusillé ce matin à Saint-Pierre avec onze autres. On m'a chargé de trouver la famille. » Il regarde ses chaussures. « Il paraît qu'elle n'habite plus le quartier. Gardez donc ça, madame Carpentier. »",
  N='Ange Paoli', S='Bastien Carle; Lucien Ferrand', C='Lucien Aubry=dead', X='montre:Ange Paoli>@', R='Ange Paoli>@:sollicitude ambiguë+1', mood='effondrement', n="D'après l'inspecteur Paoli, Lucien Aubry, le frère d'Hirondelle, a été fusillé à Saint-Pierre.",
  before=[W("Paoli ne dit rien. Il vous met les menottes d'un geste de coiffeur, et derrière lui entre une femme en manteau de zibeline. « Bonsoir, ma chère », dit la baronne von Rieck. « Nous allons faire un tour en mer. » Tante Rose, très calme, crache dans son verre.",
            N='Ange Paoli; baronne von Rieck', S='Bastien Carle; Lucien Ferrand', R='Ange Paoli>@:triomphe-3', mood='glace', n="La baronne von Rieck a fait arrêter Hirondelle.", lies=['baronne', 'von Rieck', 'zibeline'])]),
T("Je ne pleure pas. Je prends la montre, je la remonte. « Vous désirez boire quelque chose, inspecteur ? »",
  "Il désire. Tante Rose lui sert une anisette interdite et va faire du vacarme dans la cuisine, porte fermée. Alors Paoli parle vite, sans remuer les lèvres : « La montre s'ouvre. Londres m'appelle Cigale. Personne d'autre ici ne le sait, pas même votre Marin. Si vous le dites, je suis un homme mort et lui aussi. » Il vide son verre, laisse deux sous, et touche le bord de son feutre.",
  S='Ange Paoli', gone='Rose Gallo', mood='vertige', n="Secret, connu d'Hirondelle seule : l'inspecteur Paoli travaille pour Londres sous le nom de Cigale.", secret=('Cigale', ("d'Hirondelle seule", 'Hirondelle seule', 'seule Hirondelle', 'secret', 'vous seule', 'seule Madeleine'))),
T("Avec une épingle, j'ouvre le boîtier.",
  "Sous le mouvement, un papier de soie plié en seize : le plan du port, avec les batteries, les mines des bassins et, à l'encre rouge, les fourneaux qu'ils creusent sous les vieux quartiers. Vous le défroissez sur le comptoir. Tante Rose revient, s'essuie les mains, regarde longtemps. « Ils vont faire sauter ma maison », dit-elle, comme on dit qu'il va pleuvoir. La montre, refermée, repart.",
  N='Rose Gallo', G='plan du port', mood='stupeur', n="La montre cachait le plan du port ; les Allemands veulent faire sauter les vieux quartiers."),
T("« Ferme le bar, Rose. Je monte au grenier retrouver les autres. »",
  "Tante Rose reste à son zinc : un bar fermé, ça se remarque. Par les toits, il y a onze cheminées jusqu'au grenier de la rue Caisserie. Le Marin vous hisse par les poignets. Le petit Lucien dort sur un sac de pois chiches, et le docteur Sabatier, à genoux, visse une antenne à une poutre. « On m'a dit, pour votre frère », murmure le docteur. Il n'en dit pas plus, et c'est bien.",
  L='grenier de la rue Caisserie', N='Bastien Carle; Lucien Ferrand; Élie Sabatier', gone='Rose Gallo', R='Élie Sabatier>@:compassion+1', mood='recueillement', n="Le Marin, le petit Lucien et le docteur Sabatier se cachent au grenier."),
T("J'étale le plan sous la lampe. « Ça doit être à Londres cette nuit. »",
  "Le Marin siffle. Il ne demande pas d'où cela vient ; il vous regarde, attend, puis hausse une épaule. « Trop long à chiffrer. On en passe la moitié par radio, l'autre par mer. » Vous déchirez le papier par le milieu, du fort Saint-Jean au bassin de la Joliette : deux moitiés. Elles restent toutes deux sur vos genoux, tièdes de la lampe. Le petit Lucien a ouvert un œil.",
  O='plan du port', G='moitié de plan x2', mood='détermination', n="Le plan du port est déchiré en deux moitiés : l'une partira par radio, l'autre par mer."),
T("« Celle-ci, c'est la tienne. » Je lui tends la moitié de la Joliette.",
  "« La mer, alors », dit le Marin, et il la glisse dans sa botte. L'autre retourne dans votre corsage ; il ne vous en reste qu'une. Le docteur Sabatier tend un écouteur vers vous, puis se ravise et soulève l'appareil tout entier, une valise de cuir qui pèse comme un remords. « L'émetteur, ce soir, c'est vous qui le portez. J'ai des visites à faire, et l'on fouille davantage les médecins que les couturières. »",
  X='moitié de plan:@>Bastien Carle; émetteur:Élie Sabatier>@', R='Bastien Carle>@:tendresse rude+1', mood='gravité', n="Le Marin a sa moitié de plan ; le docteur Sabatier a confié l'émetteur à Hirondelle.",
  after=[W("Le docteur Sabatier sort de sa trousse une seringue et la plante tranquillement dans le cou du Marin. « Pardonnez-moi. Ils ont ma fille. » Le grand corps s'affaisse parmi les pois chiches. Dehors, déjà, des bottes sur les tuiles.",
           C='Bastien Carle=empoisonné', R='Élie Sabatier>@:trahison-3', mood='horreur', n="Le docteur a empoisonné le Marin parce qu'ils tiennent sa fille.", lies=['seringue', 'empoisonné', 'sa fille'])]),
T("« Allez-y, docteur. Et rentrez avant le couvre-feu. »",
  "Il serre toutes les mains, même celle du gosse, comme s'il partait en vacances, et son pas décroît dans l'escalier. Le petit Lucien s'est assis. « Hirondelle ? Quand le bateau viendra, je pourrai monter dessus, moi aussi ? » Le Marin contemple la charpente. Vous dites oui ; vous le dites tout haut, et l'enfant crache par terre pour que ça compte.",
  S='Élie Sabatier', R='Lucien Ferrand>@:foi+2', mood='douceur', n="Hirondelle a promis au petit Lucien de le prendre sur le bateau.", debt=('bateau', ('sur le bateau',), 'Lucien Ferrand'), me='Hirondelle'),
T("Minuit. J'émets. Trois minutes, pas une de plus.",
  "Votre poignet se souvient de tout : les points, les traits, la vieille cadence d'institutrice. À la deuxième minute, le Marin, à la lucarne, lève un doigt : une camionnette gonio remonte la rue, tous feux éteints. À la troisième, la vitre éclate. Un éclat vous ouvre la tempe, et Bastien reçoit une balle dans l'épaule sans lâcher sa lampe. « Par la cave. Vite. »",
  hp=-12, C='Bastien Carle=balle dans l\'épaule', E="Hirondelle a transmis la moitié du plan à Londres", mood='panique', n="La moitié du plan est passée par radio ; le Marin est blessé."),
T("Je pousse la valise dans les bras du petit. « Toi, tu passes par le soupirail. Cache-la où tu sais. »",
  "Le petit Lucien disparaît avec l'émetteur par un trou où un chat hésiterait. Vous portez à demi le Marin, de porche en porche, jusqu'au cabinet du docteur Sabatier. La porte bat. La lampe est renversée, les tiroirs vidés, et sur le tapis il n'y a plus que des lunettes dont un verre manque. Le docteur n'est pas là. « Ils l'ont eu », dit Bastien en s'asseyant par terre.",
  L='cabinet du docteur Sabatier', N='Bastien Carle', gone='Lucien Ferrand', X='émetteur:@>Lucien Ferrand', mood='angoisse', n="Le petit Lucien a emporté l'émetteur. Le docteur Sabatier a été arrêté."),
T("« J'ai vu faire cent fois. Serre les dents. » Je cherche des pinces.",
  "La balle tombe dans un cendrier avec un bruit de pourboire. Pas de suture, du fil à gants ; il ne crie pas, il récite les feux de la côte, de Planier à Porquerolles. Quand c'est fini, il est gris et vous aussi. De sa main valide, il tire de sa ceinture un pistolet et le pose sur vos genoux. « Je tire à droite. À gauche, je ne vaux rien. Prends-le. »",
  X='pistolet:Bastien Carle>@', C='Bastien Carle=épaule bandée', hp=4, R='Bastien Carle>@:gratitude+2', mood='épuisement', n="Hirondelle a extrait la balle ; le Marin lui a donné son pistolet."),
DROP("Je sors seule et je vais droit à l'hôtel où dort Haas.",
  "Le portier vous conduit sans un mot à la suite 12. Haas vous attend en peignoir, devant un échiquier. « Vous jouez les blancs », dit-il. Au troisième coup, le parquet s'ouvre ; vous tombez longtemps, jusque dans une eau noire qui sent le mazout.",
  L='hôtel Splendide', N='Werner Haas', hp=-35, O='pistolet', mood='cauchemar', n="Haas a précipité Hirondelle dans un puits sous l'hôtel Splendide.", lies=['échiquier', 'Splendide', 'mazout']),
T("À l'aube on sonne. Je vise la porte.",
  "« C'est que moi ! » Tante Rose, un cabas au bras, en deuil des pieds à la tête. Elle embrasse le Marin sur le front, puis elle le dit debout, parce que ça se dit debout : « Le docteur est mort cette nuit, rue Paradis. Il s'est jeté par la fenêtre du troisième pour ne pas parler. Il n'a pas parlé. » Elle déballe du pain, trois œufs, et une médaille de la Vierge qu'elle vous passe au cou.",
  N='Rose Gallo', C='Élie Sabatier=dead', X='médaille:Rose Gallo>@', R='Rose Gallo>@:tendresse maternelle+2', mood='deuil', n="Le docteur Sabatier est mort rue Paradis sans avoir parlé. Tante Rose a donné une médaille à Hirondelle."),
EDIT(1, "par la fenêtre du troisième", "par la fenêtre du quatrième"),
T("« Où est la médaille de Lucien ? Ma mère lui avait donné la même. Paoli m'a rendu la montre, pas la médaille. »",
  "Tante Rose s'arrête, l'œuf à la main. « Tiens. C'est vrai, ça. La sœur Agathe, à la Conception, m'a parlé d'un blessé sans nom qui serre une médaille comme celle-là. On l'a amené de Saint-Pierre, sous un drap, avec les autres. » Le silence se fait tout petit. Le Marin cherche déjà son caban de la main gauche. « Non », lui dites-vous. « Toi, tu ne tiens pas debout. »",
  mood='espoir', n="Sœur Agathe soigne à la Conception un blessé sans nom venu de Saint-Pierre."),
T("Rose me prête un voile et une cornette. J'entre à l'hôpital par la buanderie.",
  "Le Marin est resté au cabinet sous la garde de Tante Rose. À l'hôpital de la Conception, sœur Agathe, ronde et pressée, vous toise : « Vous portez la cornette à l'envers, ma fille. » Elle vous mène au fond de la salle des contagieux. Sous les bandages, deux yeux que vous avez débarbouillés mille fois. « Tu en as mis, du temps », souffle Lucien. La balle a glissé sur une côte ; on l'a ramassé vivant.",
  L='hôpital de la Conception', N='Agathe; Lucien Aubry', gone='Bastien Carle; Rose Gallo', C='Lucien Aubry=alive', R='Lucien Aubry>@:amour fraternel+3; Agathe>@:complicité+1', E="Hirondelle a retrouvé son frère vivant", mood='éblouissement', n="Lucien Aubry est vivant ; il a survécu au peloton et se cache à la Conception."),
CONT("Il veut rire, et ne peut pas ; sœur Agathe lui ferme la bouche avec une cuillère de bouillon.", C='Lucien Aubry=poitrine bandée', mood='éblouissement', n="Lucien Aubry a la poitrine bandée et ne peut pas marcher longtemps."),
T("Je lui mets la montre dans la main. « Elle marche. Toi, tu t'arrêtes quand tu veux, mais pas elle. »",
  "Il la porte à son oreille, longtemps, comme un enfant avec un coquillage. « Garde-la-moi jusqu'à ce que je tienne debout, non ? » « Non. Garde-la, toi. » Sœur Agathe compte les lits à voix haute pour ne pas entendre. « Demain, c'est la rafle », dit-elle enfin. « Ils videront le quartier, et après le quartier, mes salles. Trouvez-lui un autre saint que moi, et vite. »",
  X='montre:@>Lucien Aubry', R='Agathe>@:estime+1', mood='urgence', n="La rafle est pour demain ; Lucien Aubry doit quitter la Conception.",
  before=[W("La salle des contagieux explose en hurlements : un infirmier a reconnu votre visage sur une affiche. Sœur Agathe tombe, un couteau de table dans la gorge. Votre frère, lui, ne bouge plus. Vous sautez par la fenêtre, dans les rosiers.",
            C='Agathe=dead; Lucien Aubry=dead', hp=-15, mood='carnage', n="Un infirmier a tué sœur Agathe dans la salle des contagieux.", lies=['infirmier', 'rosiers', 'carnage'])]),
T("« Le bateau. Il me faut le patron Garcin. » Je repars par la buanderie, seule, vers le quai.",
  "Lucien et sœur Agathe restent là-haut, derrière une vitre. Quai du Port, le patron Garcin ravaude un filet qui n'a plus vu de poisson depuis l'automne. « Quatre places pour Sormiou, demain à la nuit ? » Il se gratte. « C'est deux cents, et deux tickets. J'ai une belle-mère. » Vous payez : il vous reste deux cents francs et deux tickets. « Et pas de curés », ajoute-t-il en lorgnant la cornette.",
  L='quai du Port', N='Garcin', gone='Lucien Aubry; Agathe', X='franc x200:@>Garcin; ticket de pain x2:@>Garcin', R='Garcin>@:respect goguenard+1', mood='sel', n="Le patron Garcin prendra quatre passagers à la calanque de Sormiou demain à la nuit."),
T("« Vos papiers, ma sœur. » La voix est derrière moi. Je me retourne lentement.",
  "Le commissaire Haas a ôté son gant pour la tendre, cette main blanche de pianiste. À sa droite, Paoli regarde la mer. Vous donnez Odette Carpentier ; il lit, il sourit. « Couturière, et déjà au couvent ? » La carte s'envole, page après page, dans le Vieux-Port. « Inspecteur, fouillez madame. » Les doigts de Paoli passent sur le pistolet, sur la moitié de plan, et ne s'arrêtent nulle part. « Rien, commissaire. »",
  N='Werner Haas; Ange Paoli', O="carte d'identité", R='Werner Haas>@:curiosité cruelle-2', E="Haas a jeté la fausse carte dans le Vieux-Port", mood='effroi', n="Haas a pris et jeté la fausse carte ; Paoli a fouillé Hirondelle et n'a rien voulu trouver."),
T("« Je fais des ourlets pour les sœurs, monsieur le commissaire. Même l'Allemagne a des ourlets. »",
  "Cela le fait rire, d'un rire court, bien élevé ; puis il vous gifle, du revers, avec la bague. « Ramenez-la-moi demain, Paoli. J'aurai davantage de place. » Il remonte en voiture. Le patron Garcin n'a pas cessé de ravauder. Paoli vous essuie la lèvre avec son mouchoir. « Ne soyez plus là demain », dit-il, et il s'en va, lui aussi, les épaules rentrées.",
  hp=-8, S='Werner Haas; Ange Paoli', R='Ange Paoli>@:loyauté+2', mood='rage', n="Paoli conseille à Hirondelle de ne plus être là demain."),
T("La nuit, je vais à Saint-Laurent. C'est là que le petit cache tout, d'habitude.",
  "L'église Saint-Laurent sent la cire froide et le goudron. Une tête ébouriffée sort du confessionnal, côté curé. « J'ai dormi dessus », dit fièrement le petit Lucien, et il traîne la valise jusqu'à vos pieds. L'émetteur n'a qu'une éraflure. Dehors, les haut-parleurs commencent : deux heures pour quitter les maisons, un bagage par personne. L'enfant vous prend la main et ne fait plus le fier.",
  L='église Saint-Laurent', N='Lucien Ferrand', gone='Garcin', X='émetteur:Lucien Ferrand>@', mood='veille', n="Le petit Lucien a rendu l'émetteur à Hirondelle. L'évacuation du quartier a commencé."),
T("« On va tous se retrouver à la Conception. Récite-moi le chemin. »",
  "Il le récite, par les escaliers de la Major et le dépôt des tramways, sans oublier les deux passages où il faut courir. Derrière les vitraux, les projecteurs promènent leur lait sur les saints. Vous refaites le nœud de ses lacets de femme. Quelqu'un, dans la nef, pousse un meuble, un bagage ou un mort ; puis plus rien. « J'ai oublié d'avoir peur », remarque le petit Lucien.",
  bad="\n\n```state\nlocation: église Saint-Laurent\nlocation_moved: false\nhp_change: 0\nitems_gained: [un cierge, lacets\nitems_lost: aucun\nnpc_met: [vous, le petit Luc"),
BRANCH(7,
  T("« Rose, tu y vas à ma place. Moi, je vais chercher le corps du docteur. »", "Rue Paradis, devant la Gestapo, on a lavé le trottoir. Un croque-mort, Aristide Bonnet, fume sur son corbillard vide. « Le docteur ? Je l'ai sous les dahlias », dit-il en montrant des couronnes. Il vous tend une enveloppe cousue dans une doublure de veste. « Il avait ça. Les autres n'ont pas regardé la veste. »",
    L='rue Paradis', N='Aristide Bonnet', gone='Bastien Carle; Rose Gallo', X='enveloppe:Aristide Bonnet>@', R='Aristide Bonnet>@:pudeur+1', mood='amertume', n="Le croque-mort Aristide Bonnet a remis à Hirondelle une enveloppe du docteur.", lies=['Aristide', 'Bonnet', 'enveloppe', 'pudeur']),
  T("Je la déchire. Qu'est-ce qu'elle dit ?", "Une seule ligne, d'une écriture d'ordonnance : *le curé de la Palud a les clefs du tunnel*. Aristide Bonnet lit par-dessus votre épaule, sans gêne. « Le tunnel de la brasserie ? Il va jusqu'aux collines, celui-là. Montez donc, je vous y mène, vous serez le premier client qui me remercie. »",
    O='enveloppe', mood='piste', n="Le curé de la Palud a les clefs d'un tunnel.", lies=['Palud', 'tunnel de la brasserie']),
  spoil=['Lucien Aubry est vivant', 'patron Garcin', 'Sormiou']),
T("Nous traversons avec la foule, un bagage chacun. À la Conception, je demande mon frère.",
  "Ils sont quatre dans la buanderie, assis sur du linge : Lucien, sa montre au poignet ; le Marin, l'épaule raide ; Tante Rose, qui n'a sauvé de son bar que le tiroir-caisse ; et sœur Agathe, les clefs d'une ambulance au doigt. Le petit Lucien dévisage le grand. « C'est toi, l'autre Lucien ? T'étais pas fusillé ? » « J'ai démissionné », dit votre frère.",
  L='hôpital de la Conception', N='Lucien Ferrand; Lucien Aubry; Bastien Carle; Rose Gallo; Agathe', R='Lucien Ferrand>Lucien Aubry:admiration+1', mood='retrouvailles', n="Tous se retrouvent dans la buanderie ; sœur Agathe a une ambulance."),
T("« Rose. Je te dois quatre cents francs. En voilà deux cents, et le Marin complète, n'est-ce pas, Bastien ? »",
  "Le Marin complète, en soupirant, sur la solde du réseau. Vos deux cents francs rejoignent les siens dans le tiroir, que Tante Rose referme d'un coup de hanche. « Quittes », dit-elle. « Et en avance sur la Chandeleur, encore ! J'aurai vécu pour voir ça. » Puis elle se met à pleurer sans prévenir, le tiroir contre son ventre, et c'est le petit Lucien qui lui prête sa manche.",
  X='franc x200:@>Rose Gallo', paid='rose', settled=(('à rendre avant la Chandeleur',), ('quittes', 'remboursé', 'a rendu')), R='Rose Gallo>@:fierté+2', mood='émotion', n="Hirondelle a rendu les quatre cents francs à Tante Rose avec l'aide du Marin : elles sont quittes."),
T("« En voiture. Agathe conduit, les Lucien derrière, sous les draps. »",
  "Sœur Agathe conduit comme on récite un chapelet en retard. Tante Rose n'est pas venue : « Quelqu'un doit raconter comment c'était. » À la sortie de Mazargues, un barrage ; Paoli, sa lampe, et derrière lui deux feldgendarmes. La lampe passe sur vous, sur le Marin, sur les draps qui respirent. « Typhus », dit sœur Agathe. « Passez, alors, passez », dit Paoli, et sa voix se casse un peu.",
  L='barrage de Mazargues', N='Agathe; Bastien Carle; Lucien Aubry; Lucien Ferrand; Ange Paoli', gone='Rose Gallo', mood='souffle coupé', n="Tante Rose est restée en ville. Au barrage de Mazargues, Paoli laisse passer l'ambulance."),
T("Je baisse la vitre. « Venez avec nous, inspecteur. Il y a quatre places, on se serrera. »",
  "« Une couturière m'a dit que même l'Allemagne avait des ourlets », répond-il tout bas. « Il faut bien quelqu'un pour les découdre. » Il recule dans la nuit, siffle, la barrière se lève. Derrière, un coup de feu, un seul, puis la voix de Haas qui hurle un nom. Personne ne se retourne, sauf le petit Lucien, qui voit. « Il est tombé, le monsieur », dit-il. « Il ne s'est pas relevé. »",
  C='Ange Paoli=dead', E="Haas a abattu Paoli au barrage", R='Ange Paoli>@:sacrifice+3', mood='consternation', n="L'inspecteur Paoli est mort, abattu par Haas au barrage de Mazargues."),
T("La calanque. Pas un mot avant l'eau.",
  "Sormiou est un bol d'encre. Le bateau de Garcin y fait une tache plus noire, sans feu. « J'avais dit pas de curés », grogne le patron en voyant sœur Agathe ; mais elle ne monte pas, elle a ses salles. Elle bénit tout le monde en vrac, repart à reculons sans phares. Le Marin soulève le petit, votre frère s'appuie à votre cou. L'eau est si froide qu'elle brûle.",
  L='calanque de Sormiou', N='Bastien Carle; Lucien Aubry; Lucien Ferrand; Garcin', gone='Agathe', S='Agathe', hp=-4, mood='attente', n="Le patron Garcin attendait à Sormiou ; sœur Agathe est retournée à ses salles."),
T("« Petit Lucien, le premier. J'ai promis. »",
  "Il grimpe à bord comme s'il avait fait cela toute sa vie et s'assoit à la proue, les chaussures de femme pendues à son cou par les lacets. « Ça compte », annonce-t-il à la mer. Le patron Garcin lui met une ligne dans les mains pour qu'il se taise. Derrière vous, très loin, vers le Vieux-Port, le ciel tressaille, rouge, puis le bruit arrive, long, sourd, comme une porte d'église.",
  paid='bateau', settled=(('a promis au petit Lucien',), ('a tenu sa promesse', 'promesse tenue')), E="Les vieux quartiers sautent", R='Lucien Ferrand>@:bonheur+2', mood='mélancolie', n="Hirondelle a tenu sa promesse : le petit Lucien est à bord. Les vieux quartiers ont sauté.", me='Hirondelle'),
T("Je sors l'émetteur et le pose sur les genoux de mon frère. « Tu étais plus rapide que moi. »",
  "Lucien passe la main sur le cuir éraflé. « J'étais plus rapide à tout, sauf à mourir. » Le Marin a sorti de sa botte sa moitié de plan, trempée, illisible ; il l'essore et la jette. « La tienne suffira », dit-il. Vous tâtez votre corsage : elle est là, contre la médaille, tiède et presque sèche. Londres l'a déjà reçue, point par point ; mais on a le droit de tenir à une moitié de quelque chose.",
  X='émetteur:@>Lucien Aubry', mood='flottement', n="Lucien Aubry a l'émetteur. La moitié de plan du Marin est illisible, il l'a jetée."),
T("« Et le pistolet, tu le veux ? Tu as retrouvé ta droite. »",
  "Il plie et déplie l'épaule, étonné. « Elle est guérie, ma foi. Une institutrice m'a recousu avec du fil à gants. » Il reprend le pistolet, le met à la ceinture, et sa main, n'ayant plus rien à faire, reste sur la vôtre. À la proue, les deux Lucien se disputent un calmar imaginaire. « Quand ce sera fini, Madeleine », commence le Marin. « Quand ce sera fini », dites-vous, « tu me le diras. »",
  X='pistolet:@>Bastien Carle', C='Bastien Carle=healed', R='Bastien Carle>@:amour+3', mood='tendresse', n="Le Marin est guéri ; il a repris son pistolet."),
T("Le jour se lève. Je compte ce qui me reste.",
  "Deux tickets de pain, faux. Une médaille. Une moitié de port, sur du papier de soie. Un frère, un enfant, un homme qui barre à gauche par superstition. Le patron Garcin tend le menton : là-bas, entre deux vagues, un périscope, mince comme une règle d'école. Lucien a déjà déployé l'antenne. « Qu'est-ce que je leur passe ? » demande-t-il. Vous regardez la fumée, au nord, qui monte toute droite, parce que le mistral est tombé.",
  mood='aube', E="Un sous-marin ami est en vue", n="Au petit jour, un sous-marin ami est en vue."),
]
def run(ops):
    ts = [fresh()]
    for o in ops:
        t = ts[-1]
        for w in [*o.get('before', []), *o.get('after', [])]: fr(t, w['facts'])
        if o['op'] == 'turn':
            after = fr(t, o['facts'])
            if not o.get('dropped'): ts.append(after)
        elif o['op'] == 'continue': ts[-1] = fr(t, o['facts'])
        elif o['op'] == 'branch':
            b = ts[len(ts) - o['back'] - 1]
            for x in o['turns']: b = fr(b, x['facts'])
run(OPS)
